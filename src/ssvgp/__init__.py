"""Gaussian process regression with spike-and-slab selection of inputs: the public names."""

from importlib.metadata import PackageNotFoundError, version

from ssvgp.data.inputs import DataWarning
from ssvgp.estimator import SSVGPRegressor
from ssvgp.evidence.loo import LeaveOneOut
from ssvgp.explain.calibration import Check
from ssvgp.explain.correlated import Relative
from ssvgp.explain.effects import Effect, Interaction
from ssvgp.explain.sobol import Shares
from ssvgp.gp.kernels.autodiff import autodiff_kernel
from ssvgp.gp.kernels.compose import Product, Sum, kernel_named
from ssvgp.gp.kernels.families import (
    Periodic,
    Polynomial,
    cauchy,
    linear,
    matern,
    rational_quadratic,
    squared_exponential,
)
from ssvgp.records import Ensemble, Member, Parameters, Prediction
from ssvgp.run.progress import Event
from ssvgp.settings import AutoSettings, PaperSettings, Prior, SearchSettings
from ssvgp.store import StoreError, load

try:
    __version__ = version("ssvgp")
except PackageNotFoundError:  # a source tree that was never installed
    __version__ = "0+unknown"

__all__ = [
    "AutoSettings",
    "Check",
    "DataWarning",
    "Effect",
    "Ensemble",
    "Event",
    "Interaction",
    "LeaveOneOut",
    "Member",
    "PaperSettings",
    "Parameters",
    "Periodic",
    "Polynomial",
    "Prediction",
    "Prior",
    "Product",
    "Relative",
    "SSVGPRegressor",
    "SearchSettings",
    "Shares",
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
