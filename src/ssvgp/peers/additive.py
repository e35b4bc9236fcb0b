"""GAM with group LASSO (Huang, Horowitz and Wei; B.2): a sum of splines, whole inputs in or out.

The paper ran R's sparseGAM with its defaults: 6 B-splines for each input, 10 folds, 100 penalties, the smallest error.
Two habits of sparseGAM 1.0 are settings here, so that they can be measured. Its 6 B-splines sum to one, which leaves 5
columns once they are centred: `width=5`. And it places the knots for new rows at quantiles of these new rows, so that
an effect is stretched to their range: `knots="new"`.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from ssvgp.peers.contract import Peer, Relevance
from ssvgp.peers.folds import choose, falling
from ssvgp.peers.splines import Groups, SplineBasis

KNOTS = ("training", "new")


class AdditivePeer(Peer):
    """A sparse additive baseline: `_fit` leaves a basis, groups, coefficients (p, m), an intercept and an error.

    `knots` says whose quantiles carry the splines of new rows: those of the "training" rows, or of the "new" rows.
    """

    _groups: Groups
    _coefficients: np.ndarray
    _intercept: float
    _error: float

    def __init__(self, width: int, folds: int, random_state: int, knots: str = "training") -> None:
        super().__init__(random_state)
        if knots not in KNOTS:
            raise ValueError(f"knots is {knots!r}; give one of {', '.join(KNOTS)}")
        self.width, self.folds, self.knots = width, folds, knots

    def _predict(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        design = self._groups.transform(self._basis_for(X).transform(X))
        return design @ self._coefficients.ravel() + self._intercept, np.full(len(X), self._error)

    def _relevance(self) -> Relevance:
        # In an orthonormal group the norm of the coefficients is the standard deviation of the effect.
        sizes = np.sqrt(np.sum(self._coefficients**2, axis=1))
        return Relevance(sizes, sizes > 0)

    def _basis_for(self, X: np.ndarray) -> SplineBasis:
        """The splines that new rows X (t, p) are put through."""
        if self.knots == "training":
            return self._basis
        if np.any(np.ptp(X, axis=0) == 0):
            raise ValueError("knots at quantiles of new rows need rows that differ in every input: give more rows")
        return SplineBasis(self.width).fit(X)

    def _columns(self, X: np.ndarray) -> np.ndarray:
        """Raw spline columns (n, p, m) of the training rows; their knots look at X alone and serve all folds."""
        self._basis = SplineBasis(self.width).fit(X)
        return self._basis.transform(X)


class GroupLasso(AdditivePeer):
    """Additive splines under the group LASSO by skglm; keeps the inputs whose group of coefficients is not zero."""

    def __init__(
        self, width: int = 6, folds: int = 10, penalties: int = 100, knots: str = "training", random_state: int = 0
    ) -> None:
        super().__init__(width, folds, random_state, knots)
        self.penalties = penalties
        # skglm compiles its solver at the first call, ten seconds that are no part of a fit.
        group_lasso_path(np.asfortranarray(2.0 * np.eye(4)), np.arange(4.0), np.array([2, 2]), np.array([0.1]))

    def _fit(self, X: np.ndarray, y: np.ndarray) -> None:
        columns = self._columns(X)
        self._groups = Groups.fit(columns)
        design = self._groups.transform(columns)
        pull = np.sqrt(np.sum((design.T @ (y - y.mean())).reshape(X.shape[1], -1) ** 2, axis=1)) / len(y)
        # Above max ||Z_g'y|| / (n sqrt(rank)) every group is zero.
        largest = float(np.max(pull / np.sqrt(np.maximum(self._groups.ranks, 1))))
        penalties = falling(largest, design.shape[0], design.shape[1], self.penalties)
        choice = choose(_held_out, columns, y, penalties, self.folds, self.random_state)
        path = group_lasso_path(design, y - y.mean(), self._groups.ranks, penalties[: choice.place + 1])
        self._coefficients, self._intercept, self._error = path[-1], float(y.mean()), choice.error
        self.notes = {"penalty": choice.penalty}


def group_lasso_path(design: np.ndarray, y: np.ndarray, ranks: np.ndarray, penalties: np.ndarray) -> np.ndarray:
    """Coefficients (k, p, m) of ||y - Zb||^2 / 2n + penalty sum_g sqrt(rank_g) ||b_g||, each from the one before.

    design: (n, p m) with orthonormal groups, y: (n,) centred, ranks: (p,).
    """
    weights = np.sqrt(np.maximum(ranks, 1.0))  # an input that is constant in a fold has rank 0, and skglm divides
    coefficients = np.zeros((len(ranks), design.shape[1] // len(ranks)))
    path = np.empty((len(penalties), *coefficients.shape))
    for place, penalty in enumerate(penalties):
        path[place] = coefficients = weighted_group_lasso(design, y, penalty * weights, coefficients)
    return path


def weighted_group_lasso(
    design: np.ndarray, y: np.ndarray, weights: np.ndarray, start: np.ndarray, tol: float = 1e-5
) -> np.ndarray:
    """Coefficients (p, m) of ||y - Zb||^2 / 2n + sum_g weight_g ||b_g||, found from `start` (p, m).

    design: (n, p m) with orthonormal groups, y: (n,) centred, weights: (p,).
    """
    from skglm.penalties import WeightedGroupL2
    from skglm.solvers import GroupBCD

    indices = np.arange(design.shape[1], dtype=np.int32)
    ends = np.arange(0, design.shape[1] + 1, start.shape[1], dtype=np.int32)
    datafit, penalty = _orthonormal_fit()(ends, indices), WeightedGroupL2(1.0, weights, ends, indices)
    first = start.ravel().copy()  # the solver works on the arrays that it is given
    found = GroupBCD(tol=tol, max_iter=100).solve(design, y, datafit, penalty, first, design @ first)[0]
    return found.reshape(start.shape)


def _held_out(columns: np.ndarray, y: np.ndarray, new: np.ndarray, penalties: np.ndarray) -> np.ndarray:
    """Predictions (k, t) at new columns (t, p, m) of the whole path; groups are orthonormalised on the fold's rows."""
    groups = Groups.fit(columns)
    path = group_lasso_path(groups.transform(columns), y - y.mean(), groups.ranks, penalties)
    return y.mean() + path.reshape(len(penalties), -1) @ groups.transform(new).T


@cache
def _orthonormal_fit() -> type:
    """skglm's squared error with the step size that orthonormal groups have, 1, in place of a norm for every group."""
    from skglm.datafits import QuadraticGroup

    class OrthonormalGroups(QuadraticGroup):
        def get_lipschitz(self, X: np.ndarray, y: np.ndarray) -> np.ndarray:
            return np.ones(len(self.grp_ptr) - 1)

    return OrthonormalGroups
