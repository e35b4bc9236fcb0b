"""What ties y to f, row by row; `SSVGPRegressor(likelihood=name)` uses the one of that name.

The algebra sees a working target for each row, a working variance, and terms of log p that do not depend on f. Gaussian
noise is the trivial case: its target is y itself (`records.RowNoise`). The others (`records.Sites`) find theirs by an
approximation at f^ (gp/newton.py), by matching moments (gp/expectation.py) or by a variational bound
(gp/mixing.py). A likelihood of your own joins by
`register(name, build)`.
"""

from __future__ import annotations

from ssvgp.model.likelihoods.classes import BernoulliLogit, BernoulliProbit
from ssvgp.model.likelihoods.counts import NegativeBinomial, Poisson
from ssvgp.model.likelihoods.gaussian import GaussianNoise
from ssvgp.model.likelihoods.outliers import Outliers
from ssvgp.model.likelihoods.rows import Rows
from ssvgp.model.likelihoods.student import StudentT
from ssvgp.model.registry import Registry
from ssvgp.records import Likelihood

__all__ = [
    "AS_IT_IS",
    "CLASSES",
    "COUNTS",
    "LIKELIHOODS",
    "TAILS",
    "WITH_SITES",
    "BernoulliLogit",
    "BernoulliProbit",
    "GaussianNoise",
    "NegativeBinomial",
    "Outliers",
    "Poisson",
    "Rows",
    "StudentT",
    "from_plain",
    "likelihood_named",
    "register",
]

COUNTS = frozenset({"poisson", "negative-binomial"})
CLASSES = frozenset({"bernoulli", "bernoulli-probit"})
AS_IT_IS = COUNTS | CLASSES  # y is not standardised
TAILS = frozenset({"student-t", "outliers"})  # y is standardised by its quartiles
WITH_SITES = AS_IT_IS | TAILS  # that are not Gaussian, of those in the package
LIKELIHOODS: Registry[Rows, Likelihood] = Registry("likelihood")
register, likelihood_named, from_plain = LIKELIHOODS.register, LIKELIHOODS.named, LIKELIHOODS.from_plain


def _gaussian(rows: Rows) -> Likelihood | None:
    return None if rows.plain else GaussianNoise(rows.weights, rows.known)


register("gaussian", _gaussian, lambda values: GaussianNoise(values["weights"], values["known"]))
register("student-t", StudentT.of, lambda values: StudentT(values["weights"], values["known"]))
register("outliers", Outliers.of, lambda values: Outliers(values["weights"], values["known"]))
register("bernoulli", BernoulliLogit.of, lambda values: BernoulliLogit(values["weights"], values["shift"]))
register("bernoulli-probit", BernoulliProbit.of, lambda values: BernoulliProbit(values["weights"], values["shift"]))
register("poisson", Poisson.of, lambda values: Poisson(**values))
register("negative-binomial", NegativeBinomial.of, lambda values: NegativeBinomial(**values))
