"""Hooks of the documentation site: pages made from the code, pictures, links out of docs.

mkdocs calls these functions while it builds the site (`mkdocs.yml` names this file).
"""

import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # mkdocs loads this file by its path

from mkdocs.structure.files import File, Files

from scripts import gallery, site_pages

# A link or an image whose target is in a folder above that of the page.
ABOVE = re.compile(r"(!?)\[([^\]]*)\]\(((?:\.\./)+)([^)#\s]+)(?:#[^)]*)?\)")
# The same in files that stand at the root of the repository.
FROM_ROOT = re.compile(
    r"(!?)\[([^\]]*)\]\(((?:benchmarks|src|experiments|CONTRIBUTING|CITATION)[^)\s]*)\)"
)


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that are made from the code, and the pictures of the gallery."""
    pages = {
        f"reference/{name}.md": site_pages.reference_page(name) for name in site_pages.REFERENCE
    }
    pages |= {
        "reference/commands.md": site_pages.commands_page(),
        "changelog.md": site_pages.moved_page(ROOT / "CHANGELOG.md"),
        "speed.md": site_pages.moved_page(ROOT / "benchmarks" / "speed" / "README.md"),
        "gallery/index.md": site_pages.gallery_page(),
    }
    pages |= {f"gallery/{e.name}.md": site_pages.example_page(e) for e in site_pages.examples()}
    for uri, text in pages.items():
        files.append(File.generated(config, uri, content=text))
    for name, path in gallery.pictures().items():
        files.append(File.generated(config, f"gallery/{name}.png", abs_src_path=str(path)))
    figure = ROOT / "experiments" / "figure1" / "figure1.svg"
    files.append(File.generated(config, "images/figure1.svg", abs_src_path=str(figure)))
    return files


def on_page_markdown(markdown: str, page: Any, **kwargs: Any) -> str:
    """Turn links to files outside docs into their names; the site has no such files."""
    uri = str(page.file.src_uri)
    if uri in ("changelog.md", "speed.md"):
        markdown = FROM_ROOT.sub(lambda found: _outside(*found.groups()), markdown)
    depth = uri.count("/")  # so many folders up are still in docs

    def change(found: re.Match[str]) -> str:
        image, text, up, path = found.groups()
        return found[0] if up.count("../") <= depth else _outside(image, text, path)

    return ABOVE.sub(change, markdown)


def _outside(image: str, text: str, path: str) -> str:
    """Return what stands for a link or an image of a file that the site does not have."""
    if image:
        return f"![{text}](images/{Path(path).name})"
    return f"`{path}`" if text == path else f"{text} (`{path}` in the repository)"
