"""What every likelihood promises, whoever wrote it. A new one is one line in the table below."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from ssvgp.model.likelihoods import LIKELIHOODS, GaussianNoise, Rows, from_plain, likelihood_named, register
from ssvgp.records import RowNoise, has_sites

N = 9
Y = np.random.default_rng(0).standard_normal(N)
WEIGHTS = np.array([1.0, 2.0, 1.0, 3.0, 1.0, 1.0, 2.0, 1.0, 5.0])
KNOWN = np.linspace(0.0, 0.8, N)

GAUSSIAN = ("gaussian",)  # those with sites are in test_sites.py

NOISES: dict[str, Callable[[], RowNoise]] = {
    "weights": lambda: GaussianNoise(WEIGHTS, np.zeros(N)),
    "known": lambda: GaussianNoise(np.ones(N), KNOWN),
    **{f"{name} as built": lambda name=name: built(name) for name in GAUSSIAN},
}


def built(name: str, weights: np.ndarray = WEIGHTS) -> RowNoise:
    """A likelihood of the package for the rows of this file."""
    found = likelihood_named(name).build(Rows(Y, weights, KNOWN))
    assert found is not None and not has_sites(found)
    return found


def log_density(noise: RowNoise, y: np.ndarray, at: float) -> float:
    """log p(y | f = 0) as the algebra puts it together from what the likelihood says."""
    working = noise.at(at)
    rows = -0.5 * np.log(2.0 * np.pi * working.variance) - 0.5 * y**2 / working.variance
    return float(rows.sum()) + working.log_terms


@pytest.fixture(params=NOISES)
def noise(request: pytest.FixtureRequest) -> RowNoise:
    return NOISES[request.param]()


def test_rows_have_positive_variances_that_grow_with_the_noise(noise: RowNoise) -> None:
    low, high = noise.at(0.1).variance, noise.at(0.2).variance
    assert low.shape == (N,) and (low > 0.0).all() and (high >= low).all()
    assert (noise.copy_variance(0.1) > 0.0).all() and noise.weights.shape == (N,)


def test_slopes_are_those_of_variances_and_terms_in_log_noise(noise: RowNoise) -> None:
    at, step = 0.3, 1e-5
    working, up, down = noise.at(at), noise.at(at * np.exp(step)), noise.at(at * np.exp(-step))
    assert (up.log_terms - down.log_terms) / (2.0 * step) == pytest.approx(working.log_terms_slope, abs=1e-6)
    np.testing.assert_allclose((up.variance - down.variance) / (2.0 * step), working.slope, rtol=1e-6)


def test_some_rows_are_those_rows_alone(noise: RowNoise) -> None:
    some = np.array([4, 1, 7])
    part = noise.rows(some)
    np.testing.assert_array_equal(part.at(0.3).variance, noise.at(0.3).variance[some])
    np.testing.assert_array_equal(part.weights, noise.weights[some])
    np.testing.assert_array_equal(part.copy_variance(0.3), noise.copy_variance(0.3)[some])


@pytest.mark.parametrize("name", GAUSSIAN)
def test_a_weight_of_w_is_the_row_w_times(name: str) -> None:
    copies = np.repeat(np.arange(N), WEIGHTS.astype(int))
    written = likelihood_named(name).build(Rows(Y[copies], np.ones(copies.size), KNOWN[copies]))
    assert written is not None and not has_sites(written)
    one, other = log_density(built(name), Y, 0.3), log_density(written, Y[copies], 0.3)
    assert one == pytest.approx(other, abs=1e-10)


def test_jitter_is_added_to_the_variances(noise: RowNoise) -> None:
    assert (noise.at(0.1, 1e-2).variance > noise.at(0.1).variance).all()


@pytest.mark.parametrize("name", GAUSSIAN)
def test_what_a_likelihood_writes_makes_it_again(name: str) -> None:
    first = built(name)
    again = from_plain(name, first.to_plain())
    assert not has_sites(again)
    np.testing.assert_array_equal(again.at(0.2).variance, first.at(0.2).variance)
    assert again.at(0.2).log_terms == first.at(0.2).log_terms
    assert all(values.shape == (N,) for values in first.to_plain().values())


@pytest.mark.parametrize("name", ["", "gaussian"])
def test_a_name_is_given_once(name: str) -> None:
    with pytest.raises(ValueError, match="a name of its own"):
        register(name, lambda rows: None)


def test_what_was_registered_without_restore_cannot_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LIKELIHOODS, "kinds", dict(LIKELIHOODS.kinds))
    register("own", lambda rows: None)
    with pytest.raises(ValueError, match="without `restore`"):
        from_plain("own", {})
    with pytest.raises(ValueError, match="own, not 'cauchy'"):
        likelihood_named("cauchy")
