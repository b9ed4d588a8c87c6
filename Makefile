# Everything a newcomer needs: `make demo`, `make test`. Both build .venv themselves.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check

.PHONY: demo test lint types tests tables paper axe screenshots clean

demo: $(VENV)/.installed
	$(BIN)/conjoin partition src/conjoin/datasets/data/seoul_bikes.csv.gz --target rented_bikes --by hour

test: lint types tests

lint: $(VENV)/.test-installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.test-installed
	$(BIN)/mypy

tests: $(VENV)/.test-installed
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal

# The paper's synthetic tables, written to experiments/.
tables: $(VENV)/.installed
	for table in table2 table3 table4; do $(BIN)/conjoin reproduce $$table || exit 1; done

# All tables, the figure and the timings of the paper, and the page with them; takes two hours or so.
PAPER_DATA ?= ../shared/data/paper
paper: $(VENV)/.test-installed
	$(BIN)/conjoin reproduce all --data $(PAPER_DATA)
	$(BIN)/python -m scripts.paper_tables

# The checker of the report's accessibility, for the browser tests; needs npm.
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
	$(PIP) install --constraint constraints.txt --editable .
	touch $@

$(VENV)/.test-installed: $(VENV)/bin/python pyproject.toml constraints.txt
	$(PIP) install --constraint constraints.txt --editable '.[test]'
	touch $@ $(VENV)/.installed

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
