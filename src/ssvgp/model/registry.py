"""Parts of the model by name: what is in the package, and what a user adds from outside."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

Given = TypeVar("Given")
Made = TypeVar("Made")


@dataclass(frozen=True)
class Kind(Generic[Given, Made]):
    """How to make a part from what is known of a table (None where it has nothing to say), or from a file."""

    build: Callable[[Given], Made | None]
    restore: Callable[[Mapping[str, Any]], Made] | None


class Registry(Generic[Given, Made]):
    """Kinds of one sort by their names; `what` is the sort in words."""

    def __init__(self, what: str) -> None:
        self._what = what
        self.kinds: dict[str, Kind[Given, Made]] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(self.kinds)

    def __len__(self) -> int:
        return len(self.kinds)

    def __contains__(self, name: object) -> bool:
        return name in self.kinds

    def register(
        self,
        name: str,
        build: Callable[[Given], Made | None],
        restore: Callable[[Mapping[str, Any]], Made] | None = None,
    ) -> None:
        """Add one by its name: `build` makes it for a table, `restore` from its `to_plain()`.

        Without `restore` a fitted model that uses it cannot be read from a file.
        """
        if not name or name in self:
            raise ValueError(f"a {self._what} needs a name of its own; there are {', '.join(self)}, and {name!r}")
        self.kinds[name] = Kind(build, restore)

    def named(self, name: str) -> Kind[Given, Made]:
        """The one of that name."""
        if name not in self:
            raise ValueError(f"a {self._what} is one of {', '.join(self)}, not {name!r}")
        return self.kinds[name]

    def from_plain(self, name: str, values: Mapping[str, Any]) -> Made:
        """The one of that name with what it carried, as its `to_plain` gave it."""
        restore = self.named(name).restore
        if restore is None:
            raise ValueError(
                f"the {self._what} {name!r} was registered without `restore`: it cannot be read from a file"
            )
        return restore(values)
