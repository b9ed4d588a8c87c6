"""Files of weights are read without running code from them."""

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed (extra nn)")

from conjoin.errors import ReadError  # noqa: E402
from conjoin.representations.torch.files import read_weights, write_weights  # noqa: E402


def test_what_is_written_is_read(tmp_path):
    content = {"slopes": torch.tensor([1.0, 2.0]), "labels": {"a": 0}, "shape": None}
    write_weights(tmp_path / "some.pt", "heads", content)
    found = read_weights(tmp_path / "some.pt", "heads")
    assert found["slopes"].tolist() == [1.0, 2.0]
    assert (found["labels"], found["shape"]) == ({"a": 0}, None)


class Code:
    def __reduce__(self):
        return (print, ("code ran",))


def test_files_with_code_in_them_are_refused(tmp_path, capsys):
    torch.save({"conjoin": "mlp", "version": 1, "settings": Code()}, tmp_path / "bad.pt")
    with pytest.raises(ReadError, match="bad.pt"):
        read_weights(tmp_path / "bad.pt", "mlp")
    assert "code ran" not in capsys.readouterr().out
    torch.save({"conjoin": "heads", "version": 1}, tmp_path / "other.pt")
    with pytest.raises(ReadError, match="holds 'heads'; expected 'mlp'"):
        read_weights(tmp_path / "other.pt", "mlp")
    torch.save({"conjoin": "mlp", "version": 99}, tmp_path / "new.pt")
    with pytest.raises(ReadError, match="newer conjoin"):
        read_weights(tmp_path / "new.pt", "mlp")
    with pytest.raises(ReadError, match="'none.pt' does not exist"):
        read_weights(tmp_path / "none.pt", "mlp")
