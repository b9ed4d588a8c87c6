"""Where the time of a run goes: processor seconds by folder and by file, slow files first.

The end of a run prints the folders and the longest files. Files with tests marked `slow` are run
first, so that at the end all workers have something to do.
"""

import os
from collections import Counter

import pytest

# Processor seconds of a file above which the summary says so: 600 files share an hour of two cores.
BUDGET = 60
SHOWN = 15  # files in the summary: those above are where a saving is worth the work
SECONDS = "processor seconds"
STARTED = pytest.StashKey[float]()


def processor_seconds():
    """Return the processor time of this process and of its children that have ended."""
    found = os.times()
    return found.user + found.system + found.children_user + found.children_system


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    """Note when a test starts."""
    item.stash[STARTED] = processor_seconds()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Put what a test has taken, with its fixtures, on the report of its last phase."""
    report = yield
    if report.when == "teardown":
        report.user_properties.append((SECONDS, processor_seconds() - item.stash[STARTED]))
    return report


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    """Run files with slow tests first; the order inside a file stays."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


def pytest_terminal_summary(terminalreporter):
    """Print where the time went, if it was more than the budget of one file."""
    spent = Counter()
    for report in (r for reports in terminalreporter.stats.values() for r in reports):
        for name, seconds in getattr(report, "user_properties", ()):
            if name == SECONDS and report.when == "teardown":
                spent[report.nodeid.split("::")[0]] += seconds
    if sum(spent.values()) > BUDGET:
        terminalreporter.section("processor seconds")
        for line in table(spent):
            terminalreporter.write_line(line)


def table(spent):
    """Return lines: all, folders, and the longest files, each with its seconds."""
    folders = Counter()
    for name, seconds in spent.items():
        folders["/".join(name.split("/")[:2])] += seconds
    lines = [f"{sum(spent.values()):7.0f} in all"]
    lines += [f"{seconds:7.0f} {name}" for name, seconds in folders.most_common() if seconds >= 1]
    lines += ["", "The longest files:"]
    for name, seconds in spent.most_common(SHOWN):
        said = f", above the budget of {BUDGET}" if seconds > BUDGET else ""
        lines.append(f"{seconds:7.0f} {name}{said}")
    return lines
