"""Run the scripts of the gallery and keep their pictures: `python -m scripts.gallery`.

Scripts enter (`examples/gallery`), one picture of each leaves in `build/gallery`. A picture whose
script and whose library are older than itself is not drawn again.
"""

import runpy
import sys
import warnings
from pathlib import Path

ROOT = Path(__file__).parents[1]
SCRIPTS = ROOT / "examples" / "gallery"
PICTURES = ROOT / "build" / "gallery"
SIZE = (7.2, 4.2)  # inches: the width of a page's text at 100 dots per inch
DOTS = 100


def pictures(again: bool = False) -> dict[str, Path]:
    """Return the picture of every script by name; draw those that are missing or old."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    library = max(path.stat().st_mtime for path in (ROOT / "src").rglob("*.py"))
    found = {}
    for script in sorted(SCRIPTS.glob("[!_]*.py")):
        picture = PICTURES / f"{script.stem}.png"
        newest = max(library, script.stat().st_mtime)
        if again or not picture.exists() or picture.stat().st_mtime < newest:
            draw(script, picture)
        found[script.stem] = picture
    return found


def draw(script: Path, picture: Path) -> None:
    """Run a script and write the figure that it leaves."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.close("all")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        runpy.run_path(str(script), run_name="__main__")
    figures = plt.get_fignums()
    if len(figures) != 1:
        raise ValueError(f"{script.name} leaves {len(figures)} figures; expected one.")
    figure = plt.figure(figures[0])
    figure.set_size_inches(*SIZE)
    figure.savefig(picture, dpi=DOTS, bbox_inches="tight", metadata={"Software": None})
    plt.close("all")


def main() -> int:
    """Draw all pictures again."""
    for name, path in pictures(again=True).items():
        print(f"{name}: {path.stat().st_size // 1024} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
