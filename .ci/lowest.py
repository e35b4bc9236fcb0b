"""The lowest versions that pyproject.toml states, as a constraints file for pip: `python .ci/lowest.py > lowest.txt`.

Read from the bounds themselves, so that the two cannot differ. Bounds of the tools that only look at the source (ruff,
mypy) are left out: what they say does not depend on what a user has.
"""

import re
import tomllib
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent / "pyproject.toml"
GROUPS = ("test",)
TOOLS = frozenset({"ruff", "mypy"})
# Of the age of matplotlib 3.8, which calls it by names that later versions warn of; warnings are errors in the tests.
CONTEMPORARIES = {"pyparsing": "3.1.0"}
BOUND = re.compile(r"([A-Za-z0-9._-]+)>=([0-9.]+)")


def lowest(project):
    """name==version for every package that the project or its test group asks for at least a version of."""
    stated = list(project["dependencies"])
    for group in GROUPS:
        stated += project["optional-dependencies"][group]
    bounds = dict(BOUND.match(line).groups() for line in stated) | CONTEMPORARIES
    return [f"{name}=={version}" for name, version in bounds.items() if name not in TOOLS]


if __name__ == "__main__":
    print("\n".join(lowest(tomllib.loads(SOURCE.read_text(encoding="utf-8"))["project"])))
