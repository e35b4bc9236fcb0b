"""Terms: every kind of background is a covariance of mean variance one, and units matter where they should."""

from __future__ import annotations

import numpy as np
import pytest

from ssvgp.gp.axes import LEAST, evened_axes, repetition
from ssvgp.gp.kernels.compose import kernel_named
from ssvgp.gp.terms import Background, Constant, Sparse
from ssvgp.model.terms import BACKGROUNDS, Columns, backgrounds_for, from_plain, register

KINDS = ("linear", "unscaled", "steep", "smooth", "wide", "rough", "evened")
VARIANCES = {"wide": 16.0, "evened": 64.0 / 3.0}


def rows(n: int = 30, seed: int = 0) -> np.ndarray:
    X = np.random.default_rng(seed).standard_normal((n, 4))
    return (X - X.mean(0)) / X.std(0)


UNITS = np.array([1.0, 10.0, 0.1, 2.0])
KNOWN = Columns(4, UNITS, evened_axes(rows()))
UNKNOWN = Columns(4, None, evened_axes(rows()))


def term(kind: str, columns: Columns = UNKNOWN) -> Background:
    (found,) = backgrounds_for([kind], columns)
    return found


def gram(kind: str, left: np.ndarray, right: np.ndarray, columns: Columns = UNKNOWN) -> np.ndarray:
    return term(kind, columns).matrix(left, right)


def gram_diagonal(kind: str, X: np.ndarray, columns: Columns = UNKNOWN) -> np.ndarray:
    return term(kind, columns).diagonal(X)


@pytest.mark.parametrize("layout", [UNKNOWN, KNOWN])
@pytest.mark.parametrize("kind", KINDS)
def test_the_diagonal_is_that_of_the_matrix(kind: str, layout: Columns) -> None:
    X = rows()
    assert gram_diagonal(kind, X, layout) == pytest.approx(np.diagonal(gram(kind, X, X, layout)))


@pytest.mark.parametrize("layout", [UNKNOWN, KNOWN])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_a_covariance_with_its_mean_variance(kind: str, layout: Columns) -> None:
    X = rows()
    matrix = gram(kind, X, X, layout)
    assert np.array_equal(matrix, matrix.T) or np.abs(matrix - matrix.T).max() < 1e-12
    assert np.linalg.eigvalsh(matrix).min() > -1e-10
    assert gram_diagonal(kind, X, layout).mean() == pytest.approx(VARIANCES.get(kind, 1.0))


@pytest.mark.parametrize("kind", KINDS)
def test_a_rectangle_is_a_part_of_the_whole(kind: str) -> None:
    X = rows()
    whole = gram(kind, X, X, KNOWN)
    assert gram(kind, X[:5], X[3:], KNOWN) == pytest.approx(whole[:5, 3:])


def test_linear_is_ridge_regression_on_standardised_inputs() -> None:
    X = rows()
    beta = np.random.default_rng(1).standard_normal((4, 200_000)) / 2.0  # variance 1 / d each
    assert gram("linear", X[:3], X[:3], KNOWN) == pytest.approx(np.cov(X[:3] @ beta), abs=0.05)


def test_unscaled_is_ridge_regression_on_the_inputs_as_they_came() -> None:
    X = rows()
    raw = X * UNITS
    expected = raw @ raw.T / (UNITS**2).sum()
    assert gram("unscaled", X, X, KNOWN) == pytest.approx(expected)


def test_steep_is_ridge_regression_on_inputs_that_were_multiplied_by_their_sd_once_more() -> None:
    X = rows()
    steeper = X * UNITS**2
    expected = steeper @ steeper.T / (UNITS**4).sum()
    assert gram("steep", X, X, KNOWN) == pytest.approx(expected)
    assert gram_diagonal("steep", X, KNOWN) == pytest.approx(np.diagonal(expected))


@pytest.mark.parametrize("kind", ["unscaled", "steep"])
@pytest.mark.parametrize("units", [None, np.full(4, 37.0)])
def test_units_say_nothing_where_all_columns_have_the_same(kind: str, units: np.ndarray | None) -> None:
    X = rows()
    assert gram(kind, X, X, Columns(4, units)) == pytest.approx(gram("linear", X, X))


@pytest.mark.parametrize("kind", ["unscaled", "steep"])
def test_the_size_of_the_units_does_not_matter_however_huge(kind: str) -> None:
    X = rows()
    assert gram(kind, X, X, Columns(4, UNITS * 1e200)) == pytest.approx(gram(kind, X, X, KNOWN))
    assert gram(kind, X, X, Columns(4, UNITS * 1e-200)) == pytest.approx(gram(kind, X, X, KNOWN))


@pytest.mark.parametrize("kind", ["linear", "smooth", "wide", "rough"])
def test_units_do_not_matter_to_the_other_kinds(kind: str) -> None:
    X = rows()
    assert np.array_equal(gram(kind, X, X, KNOWN), gram(kind, X, X))


def test_smooth_falls_with_the_distance_over_all_inputs() -> None:
    X = rows()
    for a, b in ((0, 1), (4, 9), (7, 7)):
        expected = np.exp(-0.5 * np.mean((X[a] - X[b]) ** 2))
        assert gram("smooth", X, X)[a, b] == pytest.approx(expected)


def test_rough_is_an_exponential_of_the_distance_over_all_inputs() -> None:
    X = rows()
    for a, b in ((0, 1), (4, 9), (7, 7)):
        expected = np.exp(-np.sqrt(np.mean((X[a] - X[b]) ** 2)))
        assert gram("rough", X, X)[a, b] == pytest.approx(expected)
    table = X + 1e4  # where rounding is large
    assert np.all(np.diag(gram("rough", table, table)) == 1.0)
    near = X + 1e-3  # differences grow with the distance, not with its square: near rows may differ
    leap = {kind: 1.0 - np.diag(gram(kind, X, near)) for kind in ("rough", "smooth")}
    assert np.all(leap["rough"] > 1000.0 * leap["smooth"])


def spectra(n: int, d: int = 40, seed: int = 0) -> np.ndarray:
    """Standardised rows (n, d) made of few curves, the later ones faint, with a little noise in every channel."""
    rng = np.random.default_rng(seed)
    curves = np.cumsum(rng.standard_normal((5, d)), axis=1)
    X = (rng.standard_normal((n, 5)) * 10.0 ** -np.arange(5)) @ curves + 1e-5 * rng.standard_normal((n, d))
    return (X - X.mean(0)) / X.std(0)


@pytest.mark.parametrize(("n", "d"), [(25, 40), (70, 40)])
def test_evened_axes_raise_the_faint_directions_and_keep_the_usual_distance(n: int, d: int) -> None:
    X = spectra(n, d)
    Z = X @ evened_axes(X)
    values = np.linalg.svd(X, compute_uv=False)
    values = values[values > 1e-5 * values[0]]
    expected = values / (values**2 + LEAST * values[0] ** 2) ** 0.25
    found = np.linalg.svd(Z, compute_uv=False)[: values.size]
    assert found / found[0] == pytest.approx(expected / expected[0], rel=1e-4)
    assert (Z**2).sum() == pytest.approx((X**2).sum())
    across = Z.T @ Z  # the new coordinates are as uncorrelated as principal components
    assert np.abs(across - np.diag(np.diag(across))).max() < 1e-6 * across.max()


def test_evened_is_a_matern_kernel_of_the_distance_along_its_axes() -> None:
    X = spectra(25)
    layout = Columns(40, None, evened_axes(X))
    for a, b in ((0, 1), (4, 9), (7, 7)):
        r = np.sqrt(3.0 * np.sum(((X[a] - X[b]) @ layout.axes) ** 2) / 40) / 8.0
        assert gram("evened", X, X, layout)[a, b] == pytest.approx(64.0 / 3.0 * (1.0 + r) * np.exp(-r))
    # a step is worth as much as to the linear kind where directions are alike
    even = rows(400)
    near, layout = even + 1e-4, Columns(4, None, evened_axes(even))
    evened, smooth = (
        gram_diagonal(kind, even, layout) - np.diag(gram(kind, even, near, layout)) for kind in ("evened", "smooth")
    )
    assert np.median(evened / smooth) == pytest.approx(1.0, rel=0.1)


def test_evened_without_axes_has_nothing_to_say() -> None:
    assert backgrounds_for(["evened", "linear"], Columns(4, UNITS))[0].name == "linear"


def test_wide_is_smooth_over_four_times_the_distance_and_nearly_linear() -> None:
    X = rows()
    assert gram("wide", X, X) == pytest.approx(16.0 * gram("smooth", X / 4.0, X / 4.0))
    # the variance of a difference: that of the linear kind but for curvature, of which smooth has much more
    a, b = 0, 1
    contrast, kinds = np.array([1.0, 1.0, -2.0]), ("linear", "smooth", "wide")
    difference = {k: gram(k, X, X)[[a, b, a], [a, b, b]] @ contrast for k in kinds}
    assert difference["linear"] == pytest.approx(difference["wide"], rel=0.1)
    assert difference["smooth"] < difference["wide"] < difference["linear"]


def test_repetition_is_one_for_independent_columns_and_grows_with_copies() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 90))
    assert repetition(X) == pytest.approx(1.0, abs=0.1)
    assert repetition(X.T) == pytest.approx(repetition(X), abs=1e-12)
    copies = np.repeat(X[:, :3], 30, axis=1)
    assert 60 * 90 / 150 / 3.0 <= repetition(copies) < 60 * 90 / 150 / 2.5
    one = np.outer(X[:, 0], np.ones(90))
    assert repetition(one) == pytest.approx(60 * 90 / 150)
    assert repetition(np.zeros((5, 4))) >= 1.0


def test_an_unknown_kind_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="one of linear, unscaled, steep, smooth, wide, rough, evened, not 'cubic'"):
        term("cubic")


@pytest.mark.parametrize("layout", [UNKNOWN, KNOWN])
@pytest.mark.parametrize("kind", KINDS)
def test_a_term_survives_being_plain(kind: str, layout: Columns) -> None:
    X, one = rows(), term(kind, layout)
    again = from_plain(one.name, one.to_plain())
    assert again.name == kind and np.array_equal(again.matrix(X, X), one.matrix(X, X))
    assert np.array_equal(again.shares(4), one.shares(4))


def test_a_name_is_given_once() -> None:
    with pytest.raises(ValueError, match="a name of its own"):
        register("linear", lambda columns: None)
    assert tuple(BACKGROUNDS)[: len(KINDS)] == KINDS


@pytest.mark.parametrize(
    "one", [Constant(), Sparse(kernel_named("matern32"), np.array([0, 2]), np.array([0.5, 1.0]))], ids=lambda t: t.name
)
def test_every_term_has_a_diagonal_and_is_symmetric(one: Constant | Sparse) -> None:
    X = rows()
    matrix = one.matrix(X, X)
    assert np.allclose(matrix, matrix.T) and np.allclose(np.diagonal(matrix), one.diagonal(X))
    assert np.allclose(one.matrix(X[:5], X[3:]), matrix[:5, 3:]) and one.shares(4).shape == (4,)
