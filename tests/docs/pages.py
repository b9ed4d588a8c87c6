"""The pages that tests of the documentation read, and their sentences.

Markdown enters; paragraphs and sentences without code, tables, headings and links leave.
"""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]

FENCED = re.compile(r"^( *)```.*?^\1```[^\n]*$", re.DOTALL | re.MULTILINE)
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
IMAGE = re.compile(r"!\[[^\]]*\]\([^)]*\)")
LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
CODE = re.compile(r"`[^`]+`")
ITEM = re.compile(r"^ *(?:[-*]|\d+\.) +")
# A sentence ends with a mark, perhaps inside quotes, brackets or bold. Abbreviations do not end it.
END = re.compile(r"(?<=[.!?])(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bs\.e\.)(?<!\bcf\.)[\"')*]*\s+")


def page_name(page: Path) -> str:
    """Return the path inside the repository, for names of tests."""
    return str(page.relative_to(ROOT))


def paragraphs(text: str) -> list[str]:
    """Return the prose of a page: a text for each paragraph and each item of a list.

    A span of code is one word, `CODE`. Tables, headings, blocks of code and images are left out.

    Examples
    --------
    >>> paragraphs("# Title\\n\\nA `b c`\\nd.\\n\\n    code\\n\\n- One.\\n- [Two](x.md),\\n  3.")
    ['A CODE d.', 'One.', 'Two, 3.']
    """
    for pattern in (FENCED, COMMENT, IMAGE):
        text = pattern.sub("", text)
    found: list[list[str]] = [[]]
    listed = False
    for line in LINK.sub(r"\1", CODE.sub("CODE", text)).splitlines():
        item = ITEM.match(line)
        if not line.strip():
            found.append([])
            continue
        if line.lstrip().startswith(("|", "#")):
            continue
        if item:
            found.append([line[item.end() :]])
            listed = True
            continue
        if not line.startswith(" "):
            listed = False
        if line.startswith("    ") and not listed and not found[-1]:
            continue  # a block of code by its indent
        found[-1].append(line.strip())
    return [" ".join(lines) for lines in found if lines]


def sentences(paragraph: str) -> list[str]:
    """Split a paragraph into sentences.

    Examples
    --------
    >>> sentences("It is 0.5 (s.e. 0.1). It is so, see 3.2. **Next.** psi is last")
    ['It is 0.5 (s.e. 0.1).', 'It is so, see 3.2.', '**Next.', 'psi is last']
    """
    return END.split(paragraph)


def words(sentence: str) -> int:
    """Count words: what has a letter or a digit between spaces.

    Examples
    --------
    >>> words("A mean - of 0.5 % - is CODE.")
    6
    """
    return sum(any(c.isalnum() for c in word) for word in sentence.split())
