"""Kernels as plain values: every named kernel, and sums and products of these, by its expression."""

from __future__ import annotations

from typing import Any

from ssvgp.gp.kernels.compose import Product, Sum
from ssvgp.gp.kernels.families import (
    CauchyProfile,
    Kernel,
    Matern12Profile,
    Matern32Profile,
    Matern52Profile,
    Periodic,
    Polynomial,
    RationalProfile,
    SquaredExponentialProfile,
    Stationary,
    cauchy,
    matern,
    rational_quadratic,
    squared_exponential,
)
from ssvgp.store.container import StoreError

PROFILES = {
    SquaredExponentialProfile: ("se", squared_exponential),
    Matern12Profile: ("matern12", lambda: matern(1)),
    Matern32Profile: ("matern32", lambda: matern(3)),
    Matern52Profile: ("matern52", lambda: matern(5)),
    CauchyProfile: ("cauchy", cauchy),
}
PLAIN = dict(PROFILES.values())
DEEPEST = 50  # of expressions within expressions

Expression = dict[str, Any]


def expression_of(kernel: Kernel) -> Expression:
    """A kernel as plain values; a user's own kernel is code, and has none."""
    if isinstance(kernel, Stationary):
        if isinstance(kernel.profile, RationalProfile):
            return {"kind": "rq", "shape": kernel.profile.shape}
        if type(kernel.profile) in PROFILES:
            return {"kind": PROFILES[type(kernel.profile)][0]}
    if isinstance(kernel, Polynomial):
        values = {"degree": int(kernel.degree), "offset": float(kernel.offset)}
        return {"kind": "poly", **values, "name": kernel.name}
    if isinstance(kernel, Periodic):
        inner, period = expression_of(kernel.inner), float(kernel.period)
        return {"kind": "periodic", "inner": inner, "period": period, "name": kernel.name}
    if isinstance(kernel, Sum):
        parts = {"first": expression_of(kernel.first), "second": expression_of(kernel.second)}
        return {"kind": "sum", **parts, "share": float(kernel.share)}
    if isinstance(kernel, Product):
        return {"kind": "product", "first": expression_of(kernel.first), "second": expression_of(kernel.second)}
    raise StoreError(
        f"the kernel {kernel.name!r} is code of your own, and a model file holds none: fit with kernels of the package"
        " to save the model, or pickle it and load it where the same code is at hand"
    )


def kernel_of(expression: Any, depth: int = 0) -> Kernel:
    """The kernel of an expression."""
    if depth > DEEPEST or not isinstance(expression, dict):
        raise StoreError(f"{str(expression)[:80]} is no expression of a kernel")
    kind = expression.get("kind")
    if kind in PLAIN:
        return PLAIN[kind]()
    if kind == "rq":
        return rational_quadratic(expression["shape"])
    if kind == "poly":
        return Polynomial(expression["degree"], expression["offset"], str(expression["name"]))
    if kind == "periodic":
        inner = kernel_of(expression["inner"], depth + 1)
        if not isinstance(inner, Stationary):
            raise StoreError(f"a periodic kernel is made of a stationary one, not of {inner.name!r}")
        return Periodic(inner, expression["period"], str(expression["name"]))
    if kind in ("sum", "product"):
        first, second = kernel_of(expression["first"], depth + 1), kernel_of(expression["second"], depth + 1)
        return Sum(first, second, expression["share"]) if kind == "sum" else Product(first, second)
    raise StoreError(f"the file names a kernel {kind!r} that this version of ssvgp does not know: upgrade ssvgp")
