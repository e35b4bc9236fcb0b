"""What every term of a covariance promises, whoever wrote it. A new term is one line in the table below."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from ssvgp.gp.axes import evened_axes
from ssvgp.gp.kernels.families import linear, squared_exponential
from ssvgp.gp.terms import Background, Constant, Sparse, Term
from ssvgp.model.terms import BACKGROUNDS, Columns, backgrounds_for, from_plain, kind_named, register

N, D = 12, 5
ROWS = np.random.default_rng(0).standard_normal((N, D))
NEW = np.random.default_rng(1).standard_normal((4, D))
COLUMNS = Columns(D, units=np.array([1.0, 2.0, 0.5, 3.0, 1.0]), axes=evened_axes(ROWS))

ACTIVE, THETA = np.array([0, 3]), np.array([0.7, 1.3])
TERMS: dict[str, Callable[[], Term]] = {
    "sparse": lambda: Sparse(squared_exponential(), ACTIVE, THETA),
    "sparse_linear": lambda: Sparse(linear(), ACTIVE, THETA),
    "constant": Constant,
    **{name: lambda name=name: bound(name) for name in BACKGROUNDS},
}


def bound(name: str) -> Background:
    """A background of the package, bound to the columns of this file."""
    (term,) = backgrounds_for([name], COLUMNS)
    return term


@pytest.fixture(params=TERMS)
def term(request: pytest.FixtureRequest) -> Term:
    return TERMS[request.param]()


def test_the_matrix_is_a_covariance(term: Term) -> None:
    K = term.matrix(ROWS, ROWS)
    assert K.shape == (N, N)
    np.testing.assert_allclose(K, K.T, atol=1e-12)
    assert np.linalg.eigvalsh(K).min() > -1e-10 * np.trace(K)


def test_rows_of_any_table_fit_together(term: Term) -> None:
    both = np.vstack([ROWS, NEW])
    whole, across = term.matrix(both, both), term.matrix(ROWS, NEW)
    assert across.shape == (N, len(NEW))
    np.testing.assert_allclose(across, whole[:N, N:], atol=1e-10)
    np.testing.assert_allclose(term.matrix(NEW, ROWS), across.T, atol=1e-12)


def test_the_diagonal_is_that_of_the_matrix(term: Term) -> None:
    np.testing.assert_allclose(term.diagonal(NEW), np.diag(term.matrix(NEW, NEW)), rtol=1e-10)


def test_a_copy_of_the_rows_has_the_same_matrix(term: Term) -> None:
    np.testing.assert_allclose(term.matrix(ROWS, ROWS.copy()), term.matrix(ROWS, ROWS), atol=1e-7)


def test_rows_are_left_as_they_were(term: Term) -> None:
    rows = ROWS.copy()
    term.matrix(rows, rows)
    term.matrix(rows, NEW)
    term.diagonal(rows)
    np.testing.assert_array_equal(rows, ROWS)


def test_shares_are_weights_of_all_columns(term: Term) -> None:
    shares = term.shares(D)
    assert shares.shape == (D,) and (shares >= 0.0).all()


@pytest.mark.parametrize("name", BACKGROUNDS)
def test_a_background_has_a_variance_of_about_one(name: str) -> None:
    rows = np.random.default_rng(2).standard_normal((400, D))
    variance = float(bound(name).diagonal((rows - rows.mean(0)) / rows.std(0)).mean())
    limit = 64.0 / 3.0 if name == "evened" else 16.0 if name == "wide" else 1.0  # longer ones are nearly straight
    assert 0.9 < variance < 1.01 * limit


@pytest.mark.parametrize("name", BACKGROUNDS)
def test_what_a_background_writes_makes_it_again(name: str) -> None:
    term = bound(name)
    assert term.name == name
    again = from_plain(name, term.to_plain())
    np.testing.assert_array_equal(again.matrix(ROWS, NEW), term.matrix(ROWS, NEW))
    np.testing.assert_array_equal(again.shares(D), term.shares(D))


@pytest.mark.parametrize("name", ["", "linear"])
def test_a_name_is_given_once(name: str) -> None:
    with pytest.raises(ValueError, match="a name of its own"):
        register(name, lambda columns: None)


def test_a_name_that_nobody_has_is_refused_with_those_there_are() -> None:
    with pytest.raises(ValueError, match=r"linear, unscaled.*not 'quadratic'"):
        kind_named("quadratic")


def test_what_was_registered_without_restore_cannot_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BACKGROUNDS, "kinds", dict(BACKGROUNDS.kinds))
    register("own", lambda columns: None)
    assert backgrounds_for(["own"], COLUMNS) == ()
    with pytest.raises(ValueError, match="without `restore`"):
        from_plain("own", {})
