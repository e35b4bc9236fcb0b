"""SGP and SVGP: GPyTorch's bounds and steps to the digit, in chunks, and trainings that can be cut off and go on."""

from __future__ import annotations

import numpy as np
import pytest

from ssvgp import peers

torch = pytest.importorskip("torch")
gpytorch = pytest.importorskip("gpytorch")

from ssvgp.peers import checkpoint, inducing, sparse_gp  # noqa: E402
from ssvgp.peers.gpytorch_parts import Process, paper_kernel, paper_likelihood  # noqa: E402
from ssvgp.peers.inducing import Surface  # noqa: E402
from ssvgp.peers.sparse_gp import SparseGP  # noqa: E402
from ssvgp.peers.svgp import StochasticVariationalGP  # noqa: E402

pytestmark = [pytest.mark.peers, pytest.mark.filterwarnings("ignore")]
INDUCING, LENGTHSCALES, SCALE, NOISE = 12, (1.0, 2.0, 3.0, 0.7), 1.7, 0.3


@pytest.fixture
def data():
    generator = torch.Generator().manual_seed(0)
    X = torch.randn(50, 4, dtype=torch.float64, generator=generator)
    return X, torch.sin(X[:, 0]) + 0.1 * torch.randn(50, dtype=torch.float64, generator=generator)


def set_to(kernel, likelihood):
    kernel.base_kernel.lengthscale = torch.tensor(LENGTHSCALES)
    kernel.outputscale, likelihood.noise = SCALE, NOISE


def sparse(X):
    peer = SparseGP(inducing=INDUCING)
    peer._surface = Surface(X[:INDUCING].clone())
    set_to(peer._surface.kernel, peer._surface.likelihood)
    return peer


def slopes_of(peer):
    return {name: part.grad.clone() for name, part in peer._surface.named_parameters()}


def test_the_collapsed_bound_and_its_slopes_are_gpytorchs(data):
    X, y = data
    peer = sparse(X)
    value = peer.slopes(X, y)
    kernel, likelihood = paper_kernel(4).double(), paper_likelihood().double()
    set_to(kernel, likelihood)
    inducing = gpytorch.kernels.InducingPointKernel(kernel, X[:INDUCING].clone(), likelihood)
    model = Process(X, y, likelihood, inducing)
    model.train()
    with gpytorch.settings.max_cholesky_size(1000), gpytorch.settings.cholesky_jitter(double_value=1e-6):
        bound = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)(model(X), y)
        (-bound).backward()
    theirs = {
        "places": inducing.inducing_points.grad,
        "kernel.raw_outputscale": kernel.raw_outputscale.grad,
        "kernel.base_kernel.raw_lengthscale": kernel.base_kernel.raw_lengthscale.grad,
        "likelihood.noise_covar.raw_noise": likelihood.noise_covar.raw_noise.grad,
    }
    # the two put their jitter in different places: 1e-6 of the kernel
    assert value == pytest.approx(float(bound.detach()), rel=1e-5)
    ours = slopes_of(peer)
    assert ours.keys() == theirs.keys()
    for name, slope in theirs.items():
        np.testing.assert_allclose(ours[name].numpy(), slope.numpy(), rtol=1e-4, atol=1e-7)


def test_chunks_of_rows_change_nothing(data, monkeypatch):
    X, y = data
    whole = sparse(X)
    value = whole.slopes(X, y)
    monkeypatch.setattr(sparse_gp, "CHUNK", 7 * INDUCING)  # seven rows at a time
    pieces = sparse(X)
    assert pieces.slopes(X, y) == pytest.approx(value, rel=1e-12)
    for name, slope in slopes_of(whole).items():
        np.testing.assert_allclose(slopes_of(pieces)[name].numpy(), slope.numpy(), rtol=1e-9, atol=1e-14)


class Theirs(gpytorch.models.ApproximateGP):
    """GPyTorch's own SVGP with natural gradients."""

    def __init__(self, places):
        q = gpytorch.variational.NaturalVariationalDistribution(len(places))
        super().__init__(gpytorch.variational.VariationalStrategy(self, places, q))
        self.covariance = paper_kernel(places.shape[1])
        self.to(places)

    def forward(self, X):
        return gpytorch.distributions.MultivariateNormal(X.new_zeros(X.shape[:-1]), self.covariance(X))


def test_steps_of_the_variational_process_are_gpytorchs(data):
    X, y = data
    model, likelihood, n = Theirs(X[:INDUCING].clone()), paper_likelihood().double(), 200
    model.variational_strategy.variational_params_initialized.fill_(1)  # else their q starts off the prior at random
    bound = gpytorch.mlls.VariationalELBO(likelihood, model, num_data=n)
    others = [*model.hyperparameters(), *likelihood.parameters()]
    optimisers = (
        gpytorch.optim.NGD(model.variational_parameters(), num_data=n, lr=0.1),
        torch.optim.Adam(others, lr=0.01),
    )
    ours = StochasticVariationalGP(inducing=INDUCING)
    ours._surface = Surface(X[:INDUCING].clone())
    ours._parts()
    for rows in torch.arange(50).split(10):
        for optimiser in optimisers:
            optimiser.zero_grad()
        value = bound(model(X[rows]), y[rows])
        assert float(ours.bound(X[rows], y[rows], n).detach()) == pytest.approx(float(value.detach()), abs=1e-5)
        (-value).backward()
        for optimiser in optimisers:
            optimiser.step()
        ours.step(X[rows], y[rows], n)
    places = model.variational_strategy.inducing_points
    np.testing.assert_allclose(ours._surface.places.detach(), places.detach(), atol=1e-6)
    lengthscales = model.covariance.base_kernel.lengthscale.detach()
    np.testing.assert_allclose(ours._surface.kernel.base_kernel.lengthscale.detach(), lengthscales, rtol=1e-6)
    assert float(ours._surface.noise()) == pytest.approx(float(likelihood.noise), rel=1e-6)


def test_the_slope_through_a_factor_is_that_of_autograd():
    generator = torch.Generator().manual_seed(1)
    half, B, C = (torch.randn(*shape, dtype=torch.float64, generator=generator) for shape in ((6, 6), (6, 9), (6, 9)))
    K = (half @ half.T + torch.eye(6)).requires_grad_()
    A = torch.linalg.solve_triangular(torch.linalg.cholesky(K), B, upper=False)
    (C * A**3).sum().backward()
    slope, L = (3.0 * C * A**2).detach(), torch.linalg.cholesky(K.detach())
    ours = inducing.slope_through_factor(L, slope @ A.detach().T)
    np.testing.assert_allclose(ours.numpy(), (0.5 * (K.grad + K.grad.T)).numpy(), rtol=1e-10, atol=1e-12)


def wide(dtype):
    """A table on which the covariance of the inducing points is nearly singular: few inputs, long lengthscales."""
    generator = torch.Generator().manual_seed(2)
    X = torch.randn(600, 3, dtype=torch.float64, generator=generator)
    y = torch.sin(X[:, 0] * X[:, 1]) + 0.3 * torch.randn(600, dtype=torch.float64, generator=generator)
    return X.to(getattr(torch, dtype)), y


def test_single_precision_has_the_bound_and_slopes_of_double(monkeypatch):
    # GPyTorch's own slopes in the places of this table are off by 0.2 of the largest in single precision
    monkeypatch.setattr(inducing, "JITTER", dict.fromkeys(inducing.JITTER, 1e-4))
    found = {}
    for dtype in ("float32", "float64"):
        X, y = wide(dtype)
        peer = SparseGP(inducing=60, dtype=dtype)
        peer._surface = Surface(X[:60].clone())
        found[dtype] = (peer.slopes(X, y), slopes_of(peer))
    assert found["float32"][0] == pytest.approx(found["float64"][0], rel=1e-5)
    for name, slope in found["float64"][1].items():
        scale = float(slope.abs().max())
        np.testing.assert_allclose(found["float32"][1][name].double(), slope, rtol=0.0, atol=1e-2 * scale)


def test_single_precision_takes_the_steps_of_double(monkeypatch):
    monkeypatch.setattr(inducing, "JITTER", dict.fromkeys(inducing.JITTER, 1e-4))
    found = {}
    for dtype in ("float32", "float64"):
        X, y = wide(dtype)
        peer = StochasticVariationalGP(inducing=60, dtype=dtype)
        peer._surface = Surface(X[:60].clone())
        peer._parts()
        for rows in torch.arange(600).split(100):
            peer.step(X[rows], y[rows], 600)
        found[dtype] = peer
    low, high = found["float32"], found["float64"]
    X, y = wide("float64")
    assert float(low.bound(X.float(), y, 600)) == pytest.approx(float(high.bound(X, y, 600)), abs=1e-4)
    # six steps of 0.01: what Adam makes of a slope near zero may differ, the rest not
    for (name, one), other in zip(low._surface.named_parameters(), high._surface.parameters(), strict=True):
        far = (one.detach().double() - other.detach()).abs()
        assert float(far.median()) < 1e-4, name
        assert float(far.max()) < 1e-2, name


LONG = [("sgp", "iterations", {"inducing": 15}), ("svgp", "epochs", {"inducing": 15, "batch": 16})]


def table():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(60, 3))
    return X, np.sin(X[:, 0]) + 0.1 * rng.normal(size=60)


@pytest.mark.parametrize(("name", "length", "settings"), LONG)
def test_a_training_that_was_cut_off_ends_where_an_undisturbed_one_does(tmp_path, name, length, settings):
    X, y = table()
    path = tmp_path / "training.pt"
    straight = peers.make(name, **settings, **{length: 6}).fit(X, y)
    peers.make(name, **settings, **{length: 2}, checkpoint=path).fit(X, y)
    resumed = peers.make(name, **settings, **{length: 6}, checkpoint=path).fit(X, y)
    np.testing.assert_array_equal(resumed.predict(X).mean, straight.predict(X).mean)
    np.testing.assert_array_equal(resumed.relevance().scores, straight.relevance().scores)
    assert resumed.notes[length] == 6


@pytest.mark.parametrize(("name", "length", "settings"), LONG)
def test_a_budget_of_seconds_counts_what_was_spent_before(tmp_path, name, length, settings):
    X, y = table()
    path = tmp_path / "training.pt"
    first = peers.make(name, **settings, **{length: 10**7}, checkpoint=path, max_seconds=0.5).fit(X, y)
    again = peers.make(name, **settings, **{length: 10**7}, checkpoint=path, max_seconds=0.5).fit(X, y)
    assert again.notes[length] == first.notes[length]
    assert again.seconds == pytest.approx(first.seconds, abs=0.3)


def test_a_checkpoint_of_another_table_is_refused(tmp_path):
    X, y = table()
    path = tmp_path / "training.pt"
    peers.make("sgp", inducing=15, iterations=1, checkpoint=path).fit(X, y)
    with pytest.raises(ValueError, match="another table or other settings"):
        peers.make("sgp", inducing=15, iterations=2, checkpoint=path).fit(X, -y)
    with pytest.raises(ValueError, match="another table or other settings"):
        peers.make("sgp", inducing=10, iterations=2, checkpoint=path).fit(X, y)


def test_training_is_written_down_on_the_way(tmp_path, monkeypatch):
    X, y = table()
    path = tmp_path / "training.pt"
    monkeypatch.setattr(checkpoint, "EVERY", 0.0)
    monkeypatch.setattr(checkpoint.Training, "over", lambda training: training.step == 3 and die())

    def die():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        peers.make("sgp", inducing=15, iterations=5, checkpoint=path).fit(X, y)
    monkeypatch.undo()
    straight = peers.make("sgp", inducing=15, iterations=5).fit(X, y)
    resumed = peers.make("sgp", inducing=15, iterations=5, checkpoint=path).fit(X, y)
    np.testing.assert_array_equal(resumed.predict(X).mean, straight.predict(X).mean)


@pytest.mark.parametrize(("name", "length", "settings"), LONG)
def test_a_watched_training_has_a_curve_that_ends_at_its_error(name, length, settings):
    X, y = table()
    peer = peers.make(name, **settings, **{length: 30})
    peer.monitor = (X, y)
    peer.fit(X, y)
    laps, seconds, errors = np.array(peer.notes["curve"]).T
    assert laps[-1] == 30 and np.all(np.diff(laps) > 0) and np.all(np.diff(seconds) > 0)
    wrong = np.mean((peer.predict(X).mean - y) ** 2) / np.var(y)
    assert errors[-1] == pytest.approx(wrong)
    assert errors[-1] < 0.8 * errors[0]
