"""Gaussian process regression with spike-and-slab selection of inputs: the public names."""

from importlib.metadata import PackageNotFoundError, version

from ssvgp.data.inputs import DataWarning
from ssvgp.estimator import SSVGPRegressor
from ssvgp.gp.autodiff import autodiff_kernel
from ssvgp.gp.compose import Product, Sum, kernel_named
from ssvgp.gp.kernels import (
    Periodic,
    Polynomial,
    cauchy,
    linear,
    matern,
    rational_quadratic,
    squared_exponential,
)
from ssvgp.records import AutoSettings, PaperSettings, Prior, SearchSettings
from ssvgp.store import StoreError, load

try:
    __version__ = version("ssvgp")
except PackageNotFoundError:  # a source tree that was never installed
    __version__ = "0+unknown"

__all__ = [
    "AutoSettings",
    "DataWarning",
    "PaperSettings",
    "Periodic",
    "Polynomial",
    "Prior",
    "Product",
    "SSVGPRegressor",
    "SearchSettings",
    "StoreError",
    "Sum",
    "__version__",
    "autodiff_kernel",
    "cauchy",
    "kernel_named",
    "linear",
    "load",
    "matern",
    "rational_quadratic",
    "squared_exponential",
]
