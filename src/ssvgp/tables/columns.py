"""Names of columns: made unique, found, and suggested where one is misspelt."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from fnmatch import fnmatchcase

from ssvgp.data import inputs

ALIKE = 0.6  # similarity from which a name is suggested
LONGEST = 60  # characters of a name or cell that a message shows


class TableError(ValueError):
    """A table cannot be used as it is; the message, one line, says where and what to do."""


class MissingLibrary(TableError):
    """A file needs a library that is not installed; the message holds the command that installs it."""


def plain(text: str) -> str:
    """Text that cannot steer a terminal: names of columns may hold anything."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def shown(text: str) -> str:
    """A name or cell for a message: in quotes, on one line, without control characters, not too long."""
    whole = plain(legible(text))
    return f"'{whole}'" if len(whole) <= LONGEST else f"'{whole[: LONGEST - 3]}...'"


def listed(names: Sequence[str]) -> str:
    """Names for a message, the first few of them and how many more there are."""
    return inputs.listed([shown(name) for name in names], most=8)


def legible(text: str) -> str:
    """Text whose bytes were no UTF-8, read as Windows-1252 instead; any other text as it is."""
    if text.isascii():
        return text
    data = text.encode("utf-8", "surrogateescape")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


def unique(names: Sequence[str]) -> list[str]:
    """Names as a header gives them, stripped; empty ones are counted, repeated ones get .2, .3 and so on."""
    given = [name.strip() or f"column{j + 1}" for j, name in enumerate(names)]
    taken: set[str] = set()
    out: list[str] = []
    for name in given:
        new, again = name, 1
        # a number must not make a name that the header holds elsewhere
        while new in taken or (again > 1 and new in given):
            again += 1
            new = f"{name}.{again}"
        taken.add(new)
        out.append(new)
    return out


def find(name: str, names: Sequence[str]) -> int:
    """The place of a column; an error suggests the nearest names where there is none."""
    if name in names:
        return list(names).index(name)
    raise TableError(f"no column {shown(name)}: {suggestion(name, names)}")


def suggestion(name: str, names: Sequence[str]) -> str:
    """What to try in place of a name that is not there."""
    folded = {other.casefold(): other for other in reversed(names)}
    near = difflib.get_close_matches(name.casefold(), list(folded), n=3, cutoff=ALIKE)
    if near:
        return f"did you mean {' or '.join(shown(folded[one]) for one in near)}?"
    return f"the table has {listed(names)}"


def choose(wanted: Sequence[str], names: Sequence[str]) -> list[int]:
    """Places of the columns wanted, in order: each is a name, a pattern with * or ?, or several with commas."""
    found: dict[int, None] = {}
    for text in wanted:
        parts = [text] if text in names else [part.strip() for part in text.split(",") if part.strip()]
        for part in parts:
            pattern = part.replace("[", "[[]")  # brackets are part of many names
            places = [] if part in names else [j for j, name in enumerate(names) if fnmatchcase(name, pattern)]
            found |= dict.fromkeys(places or [find(part, names)])
    return list(found)
