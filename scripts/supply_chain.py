"""What conjoin needs, under which licences, and a bill of materials for a release.

python -m scripts.supply_chain                       # core dependencies with their licences
python -m scripts.supply_chain --bill FILE           # CycloneDX 1.5 of the whole environment

Nothing is fetched: all is read from the metadata of installed packages. The exit code is 1 if a
core dependency has a licence that is not on the list. Only the standard library is used, so the
script also runs in the empty environments of `make package`.
"""

import argparse
import json
import re
import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution, distributions
from pathlib import Path

PACKAGE = "conjoin"
# Licences that let anybody use, change and pass on a program that imports the package. Those in
# ALSO cover parts of a package beside one of these, such as the runtime library of Fortran.
ALLOWED = ("MIT", "BSD-3-Clause", "BSD-2-Clause", "Apache-2.0", "ISC", "PSF-2.0", "0BSD", "Zlib")
ALSO = ("CC0-1.0", "GPL-3.0-or-later-with-GCC-exception-3.1", "GPL-3.0-with-GCC-exception")
# How metadata of older form name them: the text of a classifier or of the field License.
KNOWN = {
    "mit": "MIT",
    "mit license": "MIT",
    "the mit license": "MIT",
    "apache software license": "Apache-2.0",
    "apache license 2.0": "Apache-2.0",
    "apache license version 2.0": "Apache-2.0",
    "apache 2.0": "Apache-2.0",
    "bsd": "BSD-3-Clause",
    "bsd license": "BSD-3-Clause",
    "bsd 3-clause": "BSD-3-Clause",
    "new bsd": "BSD-3-Clause",
    "isc license": "ISC",
    "isc license (iscl)": "ISC",
    "python software foundation license": "PSF-2.0",
}


def name_of(requirement: str) -> str:
    """Return the package that a requirement names, in the normal form.

    >>> name_of("Scikit_Learn>=1.6; python_version > '3'")
    'scikit-learn'
    """
    return re.sub(r"[-_.]+", "-", re.split(r"[^\w.-]", requirement, maxsplit=1)[0]).lower()


def core(package: str = PACKAGE) -> list[Distribution]:
    """Return what a package needs without extras, directly or not, in the order of names."""
    found: dict[str, Distribution] = {}
    todo = [name_of(one) for one in distribution(package).requires or () if "extra ==" not in one]
    while todo:
        name = todo.pop()
        if name in found:
            continue
        try:
            found[name] = distribution(name)
        except PackageNotFoundError:  # it is for another platform or version of Python
            continue
        requires = found[name].requires or ()
        todo += [name_of(one) for one in requires if "extra ==" not in one]
    return [found[name] for name in sorted(found)]


def licence_of(one: Distribution) -> str:
    """Return the SPDX expression of a package's licence; a text as it is if it is not known."""
    expression = one.metadata.get("License-Expression")
    if expression:
        return expression
    classifiers = one.metadata.get_all("Classifier") or []
    named = [text.split("::")[-1] for text in classifiers if text.startswith("License ::")]
    first_line = (one.metadata.get("License") or "").strip().partition("\n")[0]
    for text in (*named, first_line):
        plain = " ".join(text.strip().lower().replace(",", " ").replace('"', "").split())
        if plain in KNOWN:
            return KNOWN[plain]
        if text.strip() in ALLOWED:
            return text.strip()
    return first_line or "unknown"


def allowed(expression: str) -> bool:
    """Say whether a licence is on the list: one side of OR, every part of AND.

    >>> allowed("Apache-2.0 OR GPL-3.0-only"), allowed("MIT AND GPL-3.0-only")
    (True, False)
    """

    def every(part: str) -> bool:
        names = [one.strip(" ()") for one in part.split(" AND ")]
        names = [one.replace(" WITH ", "-with-") for one in names]
        return all(name in (*ALLOWED, *ALSO) for name in names) and names[0] in ALLOWED

    return any(every(part.strip(" ()")) for part in expression.split(" OR "))


def bill() -> dict[str, object]:
    """Return the bill of materials of this environment (CycloneDX 1.5), without a date."""
    known = {name_of(one.metadata["Name"]): one for one in distributions()}
    about = known.pop(PACKAGE, None)
    components = [component(known[name]) for name in sorted(known)]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": component(about) if about else {}},
        "components": components,
    }


def component(one: Distribution) -> dict[str, object]:
    """Return one package of a bill of materials."""
    name, version, licence = name_of(one.metadata["Name"]), one.version, licence_of(one)
    kind = {"expression": licence} if allowed(licence) else {"license": {"name": licence[:80]}}
    return {
        "type": "library",
        "bom-ref": f"pkg:pypi/{name}@{version}",
        "purl": f"pkg:pypi/{name}@{version}",
        "name": name,
        "version": version,
        "licenses": [kind],
    }


def main() -> int:
    """Print licences of core dependencies, or write a bill of materials."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bill", type=Path, help="write a bill of materials to this file")
    given = parser.parse_args()
    if given.bill:
        given.bill.parent.mkdir(parents=True, exist_ok=True)
        given.bill.write_text(json.dumps(bill(), indent=1, sort_keys=True) + "\n")
    wrong = []
    for one in core():
        licence = licence_of(one)
        print(f"{one.metadata['Name']:20} {one.version:12} {licence[:60]}")
        if not allowed(licence):
            wrong.append(one.metadata["Name"])
    if wrong:
        print(f"not on the list of licences: {', '.join(wrong)}", file=sys.stderr)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
