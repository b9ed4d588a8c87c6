"""The README's Python example runs as written."""

import re
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


def test_python_examples_run(capsys):
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(), flags=re.DOTALL)
    assert blocks
    assert len(blocks[0].strip().splitlines()) <= 15
    for block in blocks:
        exec(compile(block, str(README), "exec"), {})
    assert "True" in capsys.readouterr().out
