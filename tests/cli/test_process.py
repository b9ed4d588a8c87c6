"""The command line as a process of its own: start, terminals, pipes, Ctrl-C, shells."""

import fcntl
import os
import pty
import re
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time

import pandas as pd
import pytest
from rich.cells import cell_len

from conjoin.datasets import make_clusters
from tests.cli.test_faults import PROGRESS

COMMAND = [sys.executable, "-m", "conjoin.cli.main"]
LINES = ("--learner", "linear")  # what is shown here is the same with trees, and later
HEAVY = (
    "numpy", "scipy", "sklearn", "lightgbm", "duckdb", "narwhals", "pyarrow", "pandas", "polars",
    "rich",
    "conjoin.api.partition", "conjoin.result.partition", "conjoin.cli.show",
)  # fmt: skip


def run(*arguments, cwd, **more):
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=cwd,
        timeout=120,
        **more,
    )


def clean_environment(**more):
    """Return an environment without what would change colours or widths."""
    dropped = ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE")
    kept = {name: value for name, value in os.environ.items() if name not in dropped}
    return {**kept, "TERM": "xterm-256color", **more}


class Terminal:
    """A process whose standard error, and output if asked, is a terminal of 80 columns."""

    def __init__(self, arguments, cwd, *, output=False):
        self.end, far_end = pty.openpty()
        fcntl.ioctl(far_end, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self.process = subprocess.Popen(
            [*COMMAND, *map(str, arguments)],
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=far_end if output else subprocess.PIPE,
            stderr=far_end,
            env=clean_environment(),
        )
        os.close(far_end)
        self.text = ""

    def read(self, until=None):
        """Read until some text has come, or to the end."""
        raw = b""
        while until is None or until not in self.text:
            try:
                part = os.read(self.end, 4096)
            except OSError:  # nobody writes any more
                break
            if not part:
                break
            raw += part
            self.text = raw.decode(errors="replace")
        return self.text

    def finish(self):
        self.read()
        output = self.process.stdout.read().decode() if self.process.stdout else ""
        code = self.process.wait(timeout=60)
        os.close(self.end)
        return code, output


def visible(text):
    """Return what a terminal shows of lines, escape codes gone."""
    return re.sub("\x1b\\[[0-9;?]*[a-zA-Z]", "", text).replace("\r", "")


def test_help_imports_nothing_heavy():
    script = (
        "import sys\n"
        "from conjoin.cli.main import main\n"
        "sys.argv = ['conjoin', '--help']\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert end.code == 0\n"
        f"print([name for name in {HEAVY} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60
    )
    assert done.stdout.splitlines()[-1] == "[]", done.stderr


def test_help_starts_quickly(tmp_path):
    """A tenth of a second where nothing else runs; the best of three counts."""
    times = []
    for _ in range(3):
        start = time.perf_counter()
        assert run("--help", cwd=tmp_path).returncode == 0
        times.append(time.perf_counter() - start)
    assert min(times) < 1


def test_exit_codes_of_the_process(folder):
    assert run("--version", cwd=folder).returncode == 0
    bad = run("partition", "nowhere.csv", "-t", "y", cwd=folder)
    assert (bad.returncode, bad.stderr.count("\n")) == (2, 1)
    usage = run("partition", cwd=folder)
    assert usage.returncode == 2
    assert usage.stderr == "Error: Missing argument 'DATA'; see conjoin partition --help.\n"


def test_plain_in_a_pipe_whatever_its_encoding(folder):
    arguments = ("partition", "hostile.parquet", "-t", "y", "-b", "store", *LINES)
    done = run(*arguments, cwd=folder, env=clean_environment(PYTHONIOENCODING="ascii"))
    assert done.returncode == 0, done.stderr
    assert re.match(r"(Best choice|In use): .*2 models for 3 datasets", done.stdout)
    assert "\x1b" not in done.stdout
    assert done.stdout.isascii()
    assert "\\xe9\\u2603" in done.stdout


def test_a_reader_may_leave(folder):
    words = f"{' '.join(COMMAND)} partition long.parquet -t y -b store {' '.join(LINES)}"
    line = f"{words} | head -1; "
    done = subprocess.run(
        ["bash", "-c", line + 'echo "${PIPESTATUS[0]}"'],
        capture_output=True,
        text=True,
        cwd=folder,
        timeout=60,
    )
    assert done.stdout.splitlines()[1:] == ["0"]
    assert PROGRESS.sub("", done.stderr) == ""


@pytest.mark.parametrize("closed", [">&-", ">&- 2>&-"])
def test_closed_outputs_are_silent(folder, closed):
    given = "partition long.parquet -t y -b store --learner linear --save out.json"
    line = f"{' '.join(COMMAND)} {given} {closed}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, cwd=folder, timeout=120)
    assert (done.returncode, PROGRESS.sub("", done.stderr.decode())) == (0, "")
    assert (folder / "out.json").exists()


def test_a_terminal_of_80_columns_gets_colours_and_a_progress_bar(folder):
    arguments = ["partition", "hostile.parquet", "-t", "y", "-b", "store", *LINES]
    terminal = Terminal(arguments, folder, output=True)
    code, _ = terminal.finish()
    assert code == 0
    assert "Finding what to join" in terminal.text
    shown = terminal.text[re.search("\x1b\\[1m(Best choice|In use): ", terminal.text).start() :]
    assert "\x1b[31mapart" in shown
    assert "\\x1b[31m :warning:" in shown
    lines = visible(shown).splitlines()
    assert max(map(cell_len, lines[1:])) <= 80


@pytest.fixture(scope="module")
def long_work(tmp_path_factory):
    """A table whose partition takes seconds."""
    path = tmp_path_factory.mktemp("long")
    tables = make_clusters(sizes=(60, 60, 60), n=40, p=8, distance=1.0).tables()
    frames = [pd.DataFrame(columns).assign(s=name) for name, columns in tables.items()]
    pd.concat(frames).to_parquet(path / "many.parquet", index=False)
    return path


@pytest.mark.parametrize(
    ("stop", "code", "said", "old"),
    [
        (signal.SIGINT, 130, "Interrupted.", None),
        (signal.SIGINT, 130, "Interrupted.", "old"),
        (signal.SIGTERM, 143, "Terminated.", "old"),
    ],
)
def test_a_stopped_partition_leaves_no_file(long_work, tmp_path, stop, code, said, old):
    model = tmp_path / "model.json"
    if old:
        model.write_text(old)
    arguments = ["partition", long_work / "many.parquet", "-t", "y", "-b", "s", "--save", model]
    terminal = Terminal(arguments, tmp_path)
    terminal.read(until="Finding what to join")
    terminal.process.send_signal(stop)
    assert terminal.finish() == (code, "")
    assert visible(terminal.text).endswith(f"{said}\n")
    assert "Traceback" not in terminal.text
    assert [path.read_text() for path in tmp_path.iterdir()] == ([old] if old else [])


@pytest.mark.parametrize("name", ["out.csv", "out.csv.gz", "out.parquet"])
def test_ctrl_c_during_a_prediction_leaves_the_old_file(folder, tmp_path, name):
    (tmp_path / name).write_text("old")
    rows = "SELECT data.* FROM data, range(1000000)"
    arguments = ["predict", "long.json", "long.parquet", "--query", rows, "-o", tmp_path / name]
    terminal = Terminal(arguments, folder)
    terminal.read(until="/360000000")  # the first batch is written
    assert [path.name for path in tmp_path.iterdir()] != [name]  # a part of the new file
    terminal.process.send_signal(signal.SIGINT)
    code, output = terminal.finish()
    assert (code, output) == (130, "")
    assert visible(terminal.text).endswith("Interrupted.\n")
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == "old"


def test_ctrl_c_while_duckdb_works(folder, tmp_path):
    slow = "SELECT data.* FROM data, (SELECT sum(sqrt(range)) FROM range(100000000000))"
    arguments = [
        "partition", "long.parquet", "-t", "y", "-b", "store", "--query", slow,
        "--save", tmp_path / "model.json",
    ]  # fmt: skip
    terminal = Terminal(arguments, folder)
    terminal.read(until="0:00:01")  # the elapsed time of the progress bar
    terminal.process.send_signal(signal.SIGINT)
    code, _ = terminal.finish()
    assert code == 130
    assert visible(terminal.text).endswith("Interrupted.\n")
    assert list(tmp_path.iterdir()) == []


# --- shells --------------------------------------------------------------------------------------


def complete(words, tmp_path):
    done = run(
        cwd=tmp_path,
        env=clean_environment(
            _CONJOIN_COMPLETE="complete_bash",
            COMP_WORDS=words,
            COMP_CWORD=str(len(words.split(" ")) - 1),
        ),
    )
    return done.stdout.split()


def test_completion_knows_commands_options_and_words(tmp_path):
    assert complete("conjoin par", tmp_path) == ["partition"]
    assert complete("conjoin partition --str", tmp_path) == ["--strategy"]
    assert complete("conjoin partition --strategy p", tmp_path) == ["pooled", "plain", "partial"]
    assert complete("conjoin predict --on-unseen n", tmp_path) == ["nearest"]


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_show_completion_prints_a_script(tmp_path):
    # The shell is found by looking at the parent process, so bash must be it.
    line = f"{' '.join(COMMAND)} --show-completion bash; exit $?"
    done = subprocess.run(
        ["bash", "-c", line], capture_output=True, text=True, cwd=tmp_path, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert "complete -o default -F _conjoin_completion conjoin" in done.stdout
    assert "_CONJOIN_COMPLETE=complete_bash" in done.stdout
