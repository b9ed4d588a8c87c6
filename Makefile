# Everything a newcomer needs: `make demo`, `make test`, `make docs`. All build .venv themselves.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
# Files are compiled when they are loaded; to compile all 15,000 takes longer than the linter.
INSTALL := install --no-compile

.PHONY: demo test lint types tests docs methods-note package oldest campaign tables paper axe screenshots clean

# A real table with a handful of clusters: bikes in Washington by day of the week.
demo: $(VENV)/.installed
	$(BIN)/conjoin partition src/conjoin/datasets/data/washington_bikes.csv.gz --target rentals --by weekday --learner linear --report demo-report.html

test: lint types tests

lint: $(VENV)/.test-installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.test-installed
	$(BIN)/mypy

tests: $(VENV)/.test-installed
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal

# The documentation site in build/site: open build/site/index.html. Links and anchors are checked.
docs: $(VENV)/.test-installed
	$(BIN)/python -m scripts.site

# The methods note as PDF, from the page of the site; needs Chromium.
methods-note: docs
	$(BIN)/python -m scripts.methods_note

# Wheel and source distribution, built and installed into empty environments; a bill of materials.
package: $(VENV)/.test-installed
	$(BIN)/python -m scripts.check_package

# A short set of tests with the oldest supported version of every dependency.
oldest:
	$(PYTHON) -m venv build/oldest
	build/oldest/bin/python -m pip $(INSTALL) --quiet --disable-pip-version-check --constraint constraints-oldest.txt . pandas polars pytest hypothesis
	build/oldest/bin/python -m pytest -q -p no:cacheprovider -m "not slow" $(OLDEST)
OLDEST := tests/datasets tests/report/test_frames.py tests/report/test_summary.py

# Random hostile cases over the public interface; seed and count are printed, the result is stored.
CASES ?= 200000
SEED ?= 0
campaign: $(VENV)/.test-installed
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m scripts.campaign --cases $(CASES) --seed $(SEED) --workers 2 --store

# The paper's synthetic tables, written to experiments/.
tables: $(VENV)/.installed
	for table in table2 table3 table4; do $(BIN)/conjoin reproduce $$table || exit 1; done

# All tables, the figure and the timings of the paper, and the page with them; takes two hours or so.
PAPER_DATA ?= ../shared/data/paper
paper: $(VENV)/.test-installed
	$(BIN)/conjoin reproduce all --data $(PAPER_DATA)
	$(BIN)/python -m scripts.paper_tables

# The checker of accessibility, for the browser tests; needs npm.
AXE := $(VENV)/axe/node_modules/axe-core/axe.min.js
axe: $(AXE)

$(AXE):
	npm install --prefix $(VENV)/axe --no-audit --no-fund --silent axe-core@4.14.0

# Pictures of the report: docs/images/report.png for the README, others in build/screenshots.
screenshots: $(VENV)/.test-installed
	$(BIN)/python -m scripts.screenshots

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "conjoin needs Python 3.11 or newer; name one with make PYTHON=...")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(VENV)/bin/python pyproject.toml constraints.txt
	$(PIP) $(INSTALL) --constraint constraints.txt --editable .
	touch $@

$(VENV)/.test-installed: $(VENV)/bin/python pyproject.toml constraints.txt
	$(PIP) $(INSTALL) --constraint constraints.txt --editable '.[test,docs]'
	touch $@ $(VENV)/.installed

clean:
	rm -rf $(VENV) build .mypy_cache .ruff_cache .pytest_cache .hypothesis
