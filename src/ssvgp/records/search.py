"""How sure a fit is of its search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Rested:
    """What the evidence of sets rests on where that is part of a table: so many rows.

    There the best set is `ahead` of the next by so many nats, which have a standard `error`; None where no other set
    was in question, or blocks were too few to tell.
    """

    rows: int
    ahead: float | None = None
    error: float | None = None

    def __str__(self) -> str:
        said = f"What is strong was judged on {self.rows} rows"
        if self.ahead is not None:
            error = "" if self.error is None else f", give or take {self.error:.0f}"
            said += f", where the best set is ahead of the next by {self.ahead:.0f} nats{error}"
        return f"{said}; weak effects on all."


@dataclass(frozen=True)
class Searched:
    """How sure a fit is of its search: sets visited, and what was looked at beside the best of them.

    `orders` says for two, three and four inputs among how many of the `inputs` all products were looked at; none where
    no look was worth its time. `left_behind` is the share of the variance of y that is expected to be missed: what is
    unexplained times the chance that one more start would change the answer. `agreed` says whether the last independent
    starts led to the same best set; None where none was asked. `rested` is for evidence that rests on part
    of the rows; None where it rests on all.
    """

    visited: int
    inputs: int
    orders: dict[int, int]
    left_behind: float
    agreed: bool | None
    rested: Rested | None = None

    def to_plain(self) -> dict[str, Any]:
        """As values that a file can hold; `from_plain` reads them."""
        orders = {str(size): count for size, count in self.orders.items()}
        return {**vars(self), "orders": orders, "rested": None if self.rested is None else vars(self.rested)}

    @classmethod
    def from_plain(cls, values: dict[str, Any]) -> Searched:
        """What `to_plain` gave."""
        orders = {int(size): int(count) for size, count in values["orders"].items()}
        rested = Rested(**values["rested"]) if values.get("rested") else None
        return cls(**{**values, "orders": orders, "rested": rested})

    def __str__(self) -> str:
        whole = [str(size) for size, count in self.orders.items() if count == self.inputs]
        part = [
            f"of {size} of the {count} most promising" for size, count in self.orders.items() if 0 < count < self.inputs
        ]
        looked = [f"effects of {' and of '.join(whole)} inputs together" if whole else "", *part]
        missed = [str(size) for size, count in self.orders.items() if count < self.inputs]
        said = f"The search fitted {self.visited} sets"
        if any(looked):
            said += " and looked at " + ", ".join(one for one in looked if one)
        if missed:
            said += f"; effects of {' or '.join(missed)} inputs that have no part of their own could be missed"
        starts = {True: "; independent starts agreed", False: "; independent starts did not agree", None: ""}
        said += f"{starts[self.agreed]}. About {100 * self.left_behind:.0f}% of the variation may still be found."
        return said if self.rested is None else f"{said} {self.rested}"
