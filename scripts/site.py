"""Build the documentation site into build/site and check its links: `make docs`.

mkdocs builds the pages with `--strict`, so that a missing page or anchor stops it. Then every link,
image and anchor of the pages as they are written is followed, those of generated pages included.
"""

import os
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).parents[1]
SITE = ROOT / "build" / "site"


class Page(HTMLParser):
    """The anchors of a page, what it links to, and what it loads."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note anchors and links."""
        known = {name: value or "" for name, value in attrs}
        self.anchors |= {known[key] for key in ("id", "name") if key in known}
        if tag == "a" and known.get("href"):
            self.links.append(known["href"])
        if tag == "link" and known.get("rel") in ("stylesheet", "icon") and known.get("href"):
            self.loads.append(known["href"])
        if tag in ("script", "img", "iframe", "source") and known.get("src"):
            self.loads.append(known["src"])


def build() -> None:
    """Build the site."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--clean"]
    # The generator announces its successor at every start.
    quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    subprocess.run(command, cwd=ROOT, check=True, env=quiet)


def broken(site: Path = SITE) -> list[str]:
    """Return links and anchors that lead nowhere, and what is loaded from elsewhere."""
    paths = sorted(site.rglob("*.html"))
    pages = {path: Page(path) for path in paths}
    found = []
    for path, page in pages.items():
        where = path.relative_to(site)
        found += [f"{where} loads {one}" for one in page.loads if urlsplit(one).netloc]
        for link in [*page.links, *(one for one in page.loads if not urlsplit(one).netloc)]:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or where.name == "404.html":
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if not target.exists():
                found.append(f"{where} links to {link}")
            elif parts.fragment and target in pages:
                known = pages[target].anchors
                if unquote(parts.fragment) not in known and parts.fragment != "__skip":
                    found.append(f"{where} links to {link}, which has no such anchor")
    return found


def main() -> int:
    """Build and check."""
    build()
    wrong = broken()
    print(
        "\n".join(wrong) or f"{len(list(SITE.rglob('*.html')))} pages in {SITE}, all links lead on"
    )
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
