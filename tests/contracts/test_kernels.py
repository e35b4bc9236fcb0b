"""What every kernel promises, whoever wrote it. A new kernel is one line in one of the tables below."""

from __future__ import annotations

import importlib.util
import pickle
from collections.abc import Callable

import numpy as np
import pytest
from reference import central_difference
from reference import squared_exponential as slow_squared_exponential

from ssvgp.gp.kernels import autodiff
from ssvgp.gp.kernels.autodiff import autodiff_kernel
from ssvgp.gp.kernels.compose import KERNELS, Product, Sum, kernel_named
from ssvgp.gp.kernels.families import (
    Kernel,
    Periodic,
    Polynomial,
    along,
    linear,
    matern,
    rational_quadratic,
    squared_exponential,
)

# --- kernels written by a user ------------------------------------------------------------------------


def jax_se(x, z, theta):
    import jax.numpy as jnp

    return jnp.exp(-0.5 * jnp.sum((theta * (x - z)) ** 2))


def torch_se(x, z, theta):
    return (-0.5 * ((theta * (x - z)) ** 2).sum()).exp()


def jax_se_of_matrices(left, right, theta):
    import jax.numpy as jnp

    a, b = left * theta, right * theta
    return jnp.exp(-0.5 * ((a * a).sum(1)[:, None] + (b * b).sum(1) - 2.0 * a @ b.T))


def torch_se_of_matrices(left, right, theta):
    a, b = left * theta, right * theta
    return (-0.5 * ((a * a).sum(1)[:, None] + (b * b).sum(1) - 2.0 * a @ b.T)).exp()


def jax_not_even(x, z, theta):
    """A kernel of theta where the package wants theta^2: its matrix differs at theta and -theta."""
    import jax.numpy as jnp

    return jnp.exp(-0.5 * jnp.sum(theta * (x - z) ** 2))


def torch_not_even(x, z, theta):
    return (-0.5 * (theta * (x - z) ** 2).sum()).exp()


def jax_mixed(x, z, theta):
    """Not stationary, and not a function of one geometry: what the named kernels cannot say."""
    import jax.numpy as jnp

    return jnp.prod(1.0 + theta**2 * jnp.tanh(x) * jnp.tanh(z)) / (1.0 + jnp.sum((theta * (x - z)) ** 2))


def torch_mixed(x, z, theta):
    return (1.0 + theta**2 * x.tanh() * z.tanh()).prod() / (1.0 + ((theta * (x - z)) ** 2).sum())


USER: dict[str, Callable[[], Kernel]] = {
    "jax se": lambda: autodiff_kernel(jax_se, "jax"),
    "torch se": lambda: autodiff_kernel(torch_se, "torch"),
    "jax se of matrices": lambda: autodiff_kernel(jax_se_of_matrices, "jax", matrix=True),
    "torch se of matrices": lambda: autodiff_kernel(torch_se_of_matrices, "torch", matrix=True),
    "jax not even": lambda: autodiff_kernel(jax_not_even, "jax", even=False),
    "torch not even": lambda: autodiff_kernel(torch_not_even, "torch", even=False),
    "jax mixed": lambda: autodiff_kernel(jax_mixed, "jax"),
    "torch mixed": lambda: autodiff_kernel(torch_mixed, "torch"),
}
OURS: dict[str, Callable[[], Kernel]] = {
    **KERNELS,
    "rq 0.5": lambda: rational_quadratic(0.5),
    "rq 4": lambda: rational_quadratic(4.0),
    "poly 1": lambda: Polynomial(1, 0.5),
    "poly 3": lambda: Polynomial(3, 0.3),
    "periodic matern": lambda: Periodic(matern(5), 1.3),
    "se+linear": lambda: kernel_named("se+linear"),
    "se*periodic": lambda: kernel_named("se * periodic"),
    "uneven sum": lambda: Sum(matern(3), squared_exponential(), 0.2),
    "nested": lambda: Sum(Product(squared_exponential(), linear()), rational_quadratic(2.0), 0.7),
}
NOT_SMOOTH = {"matern12"}  # g' is infinite at distance zero


def needs(library: str) -> list[pytest.MarkDecorator]:
    missing = importlib.util.find_spec(library) is None
    return [pytest.mark.autodiff, pytest.mark.skipif(missing, reason=f"needs {library}")]


def users(*endings: str) -> list:
    names = [name for name in USER if not endings or name.split(" ", 1)[1] in endings]
    return [pytest.param(USER[name], id=name, marks=needs(name.split()[0])) for name in names]


ALL = [pytest.param(make, id=name) for name, make in OURS.items()] + users()
SMOOTH = [pytest.param(make, id=name) for name, make in OURS.items() if name not in NOT_SMOOTH] + users()

every_kernel = pytest.mark.parametrize("make", ALL)
every_smooth_kernel = pytest.mark.parametrize("make", SMOOTH)


@pytest.fixture
def rows() -> np.ndarray:
    return np.random.default_rng(1).standard_normal((9, 3))


@pytest.fixture
def theta() -> np.ndarray:
    return np.array([0.7, -0.4, 1.1])


@pytest.fixture
def weights() -> np.ndarray:
    a = np.random.default_rng(2).standard_normal((9, 9))
    return a + a.T


# --- the contract -------------------------------------------------------------------------------------


@every_kernel
def test_it_is_a_kernel(make) -> None:
    kernel = make()
    assert isinstance(kernel, Kernel) and kernel_named(kernel) is kernel
    assert isinstance(kernel.name, str) and kernel.name and isinstance(kernel.local, bool)


@every_kernel
def test_matrix_is_symmetric_and_positive_semidefinite(make, rows, theta) -> None:
    matrix = make().evaluate(rows, theta).matrix
    np.testing.assert_allclose(matrix, matrix.T, atol=1e-13 * np.abs(matrix).max())
    assert np.linalg.eigvalsh(matrix).min() > -1e-10 * np.abs(matrix).max()


@every_kernel
def test_matrix_diagonal_and_evaluation_agree(make, rows, theta) -> None:
    kernel = make()
    whole = kernel.evaluate(rows, theta).matrix
    np.testing.assert_allclose(kernel.matrix(rows, rows, theta), whole, rtol=1e-12)
    np.testing.assert_allclose(kernel.matrix(rows[:4], rows[4:], theta), whole[:4, 4:], rtol=1e-10)
    np.testing.assert_allclose(kernel.diagonal(rows, theta), np.diagonal(whole), rtol=1e-12)


@every_kernel
def test_it_is_even_in_every_theta(make, rows, theta) -> None:
    kernel = make()
    for j in range(3):
        flipped = np.where(np.arange(3) == j, -theta, theta)
        np.testing.assert_allclose(kernel.matrix(rows, rows, flipped), kernel.matrix(rows, rows, theta), rtol=1e-12)


@every_kernel
def test_an_input_with_theta_zero_has_no_influence(make, rows, theta) -> None:
    kernel, keep = make(), [0, 2]
    zero = np.where(np.arange(3) == 1, 0.0, theta)
    with_it, without = kernel.evaluate(rows, zero), kernel.evaluate(rows[:, keep], theta[keep])
    np.testing.assert_allclose(with_it.matrix, without.matrix, rtol=1e-12)
    ones = np.ones((9, 9))
    np.testing.assert_allclose(
        with_it.pullback(ones)[keep], without.pullback(ones), rtol=1e-9, atol=1e-12 * np.abs(ones).sum()
    )
    assert with_it.pullback(ones)[1] == 0.0


@every_kernel
def test_no_inputs_at_all_give_a_constant(make, rows, weights) -> None:
    kernel, nothing = make(), np.zeros((9, 0))
    at = kernel.evaluate(nothing, np.zeros(0), floor=1e-4)
    np.testing.assert_allclose(at.matrix, at.matrix[0, 0], rtol=1e-12)
    assert kernel.matrix(nothing[:2], nothing, np.zeros(0)).shape == (2, 9)
    assert kernel.diagonal(nothing, np.zeros(0)).shape == (9,)
    assert at.pullback(weights).shape == (0,)
    assert np.isfinite(at.slopes(weights, rows)).all()


@every_kernel
def test_a_vector_moved_along_theta_is_what_the_pullback_of_products_says(make, rows, theta, weights) -> None:
    """u' (w * dC / d theta_j) v is the pullback of w * (u v' + v u') / 2, where a kernel knows the former."""
    at = make().evaluate(rows, theta)
    u, v = np.random.default_rng(3).standard_normal((2, len(rows)))
    for through in (1.0, 0.3, weights):
        moved = along(at, v, through)
        if moved is None:
            assert not hasattr(at, "along") or make in USER.values()
            return
        expected = at.pullback(through * 0.5 * (np.outer(u, v) + np.outer(v, u)))
        np.testing.assert_allclose(u @ moved, expected, rtol=1e-9, atol=1e-10)


@every_kernel
def test_pullback_is_the_gradient(make, rows, theta, weights) -> None:
    kernel = make()
    expected = central_difference(lambda at: np.vdot(weights, kernel.matrix(rows, rows, at)), theta)
    actual = kernel.evaluate(rows, theta).pullback(weights)
    np.testing.assert_allclose(actual, expected, rtol=1e-6, atol=1e-6)


@every_smooth_kernel
def test_slopes_are_the_gradient_in_theta_squared(make, rows, theta, weights) -> None:
    kernel, columns = make(), np.random.default_rng(3).standard_normal((9, 4))
    actual = kernel.evaluate(rows, theta).slopes(weights, columns)
    assert actual.shape == (4,)
    square = 1e-6
    for j in range(4):
        wide, longer = np.column_stack([rows, columns[:, j]]), np.append(theta, np.sqrt(square))
        change = kernel.evaluate(wide, longer).matrix - kernel.evaluate(rows, theta).matrix
        np.testing.assert_allclose(actual[j], np.vdot(weights, change) / square, rtol=1e-4, atol=1e-3)


def test_slopes_of_matern12_are_right_and_finite_for_equal_rows(rows, theta, weights) -> None:
    kernel, column = matern(1), np.random.default_rng(3).standard_normal((9, 1))
    actual = kernel.evaluate(rows, theta, floor=1e-4).slopes(weights, column)
    square = 1e-7
    wide, longer = np.column_stack([rows, column]), np.append(theta, np.sqrt(square))
    change = kernel.evaluate(wide, longer).matrix - kernel.evaluate(rows, theta).matrix
    np.testing.assert_allclose(actual[0], np.vdot(weights, change) / square, rtol=1e-3)
    twice = np.concatenate([rows, rows])
    slopes = kernel.evaluate(twice, theta, floor=1e-4).slopes(np.ones((18, 18)), np.arange(18.0)[:, None])
    assert np.isfinite(slopes).all()


@every_kernel
def test_it_pickles(make, rows, theta, weights) -> None:
    kernel = make()
    before = kernel.evaluate(rows, theta)  # after first use, when a library has compiled what it needs
    before.pullback(weights)
    again = pickle.loads(pickle.dumps(kernel))
    np.testing.assert_array_equal(again.evaluate(rows, theta).matrix, before.matrix)


# --- what single kernels promise beyond that ----------------------------------------------------------


def test_squared_exponential_is_that_of_the_paper(rows, theta) -> None:
    expected = slow_squared_exponential(rows, rows, theta)
    np.testing.assert_allclose(squared_exponential().matrix(rows, rows, theta), expected, atol=1e-14)


def test_linear_kernel_is_a_scaled_product(rows, theta) -> None:
    expected = (rows * theta**2) @ rows.T
    np.testing.assert_allclose(linear().matrix(rows, rows, theta), expected, atol=1e-13)


def test_rational_quadratic_of_large_shape_is_the_squared_exponential(rows, theta) -> None:
    expected = squared_exponential().matrix(rows, rows, theta)
    np.testing.assert_allclose(rational_quadratic(1e8).matrix(rows, rows, theta), expected, atol=1e-6)


def test_periodic_kernel_repeats_after_its_period(rows, theta) -> None:
    kernel = Periodic(period=1.3)
    expected = kernel.matrix(rows, rows, theta)
    np.testing.assert_allclose(kernel.matrix(rows + 2.6, rows, theta), expected, atol=1e-12)
    sine = np.sin(np.pi * (rows[0] - rows[1]) / 1.3)
    assert expected[0, 1] == pytest.approx(np.exp(-0.5 * np.sum((theta * sine) ** 2)), rel=1e-12)


def test_names_compose_with_products_before_sums(rows, theta) -> None:
    parts = {name: kernel_named(name).matrix(rows, rows, theta) for name in ("se", "linear", "rq")}
    actual = kernel_named("se*linear+rq").matrix(rows, rows, theta)
    np.testing.assert_allclose(actual, 0.5 * parts["se"] * parts["linear"] + 0.5 * parts["rq"], rtol=1e-12)


def test_a_sum_of_three_gives_each_a_third(rows, theta) -> None:
    parts = [kernel_named(name).matrix(rows, rows, theta) for name in ("se", "linear", "rq")]
    actual = kernel_named("se + linear + rq").matrix(rows, rows, theta)
    np.testing.assert_allclose(actual, sum(parts) / 3.0, rtol=1e-12)


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda: kernel_named("sq"), ValueError, "known names: se"),
        (lambda: kernel_named(3), TypeError, "got int"),
        (lambda: matern(2), ValueError, "1, 3 or 5"),
        (lambda: rational_quadratic(0.0), ValueError, "positive"),
        (lambda: Polynomial(0), ValueError, "whole number"),
        (lambda: Polynomial(2, -1.0), ValueError, "negative"),
        (lambda: Periodic(period=0.0), ValueError, "positive"),
        (lambda: Sum(linear(), linear(), 1.0), ValueError, "between 0 and 1"),
        (lambda: autodiff_kernel(np.exp, "tensorflow"), ValueError, "one of: jax, torch"),
        (lambda: autodiff_kernel("se", "jax"), TypeError, "got str"),
    ],
)
def test_a_wrong_kernel_is_named_at_once(call, error, says) -> None:
    with pytest.raises(error, match=says):
        call()


# --- what kernels of a user promise beyond that -------------------------------------------------------


@pytest.mark.parametrize("make", users("se", "se of matrices", "not even"))
def test_a_users_squared_exponential_equals_ours(make, rows, theta, weights) -> None:
    columns = np.random.default_rng(4).standard_normal((9, 40))
    ours, theirs = squared_exponential().evaluate(rows, theta), make().evaluate(rows, theta)
    np.testing.assert_allclose(theirs.matrix, ours.matrix, rtol=1e-10)
    np.testing.assert_allclose(theirs.pullback(weights), ours.pullback(weights), rtol=1e-10)
    slopes = ours.slopes(weights, columns)
    np.testing.assert_allclose(theirs.slopes(weights, columns), slopes, atol=1e-10 * np.abs(slopes).max())


@pytest.mark.parametrize(
    ("library", "function"),
    [
        pytest.param("jax", jax_not_even, marks=needs("jax")),
        pytest.param("torch", torch_not_even, marks=needs("torch")),
    ],
)
def test_a_kernel_that_is_not_even_is_repaired_only_when_declared(library, function, rows, theta) -> None:
    as_is = autodiff_kernel(function, library)
    assert not np.allclose(as_is.matrix(rows, rows, -theta), as_is.matrix(rows, rows, theta))
    repaired = autodiff_kernel(function, library, even=False)
    np.testing.assert_allclose(repaired.matrix(rows, rows, -theta), repaired.matrix(rows, rows, theta))


@pytest.mark.parametrize("make", users("se", "mixed"))
def test_chunks_of_rows_do_not_change_the_answer(make, rows, theta, weights, monkeypatch) -> None:
    whole = make().evaluate(rows, theta)
    expected = whole.pullback(weights)
    monkeypatch.setattr(autodiff, "BATCH_BYTES", 8 * 9 * 4 * 2)  # two rows at a time
    parts = make().evaluate(rows, theta)
    np.testing.assert_allclose(parts.matrix, whole.matrix, rtol=1e-13)
    np.testing.assert_allclose(parts.pullback(weights), expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("library", "function", "matrix", "says"),
    [
        ("torch", lambda x, z, theta: theta * x * z, False, "a scalar from two points"),
        ("torch", lambda a, b, theta: (a * b).sum(1), True, r"\(a, b\) from"),
        ("torch", lambda x, z, theta: (theta * (x - z)).sum().log(), False, "NaN or infinite"),
        ("torch", lambda x, z, theta: (theta * x).sum().exp(), False, "not symmetric"),
        ("torch", lambda x, z, theta: (theta * x * z).sum().float(), False, "float32"),
        ("jax", lambda x, z, theta: theta * x * z, False, "a scalar from two points"),
        ("jax", lambda x, z, theta: (theta * x).sum(), False, "not symmetric"),
    ],
)
@pytest.mark.autodiff
def test_a_wrong_function_gets_a_clear_error(library, function, matrix, says, rows, theta) -> None:
    pytest.importorskip(library)
    kernel = autodiff_kernel(function, library, name="mine", matrix=matrix)
    with pytest.raises(ValueError, match=f"'mine'.*{says}"):
        kernel.evaluate(rows, theta)


@pytest.mark.parametrize("library", [pytest.param(name, marks=needs(name)) for name in ("jax", "torch")])
def test_a_root_at_distance_zero_is_explained(library, rows, theta, weights) -> None:
    kernel = autodiff_kernel(lambda x, z, theta: 1.0 / (1.0 + ((theta * (x - z)) ** 2).sum() ** 0.5), library)
    with pytest.raises(ValueError, match="small constant under it"):
        kernel.evaluate(rows, theta).pullback(weights)


@pytest.mark.parametrize("library", [pytest.param(name, marks=needs(name)) for name in ("jax", "torch")])
def test_a_kernel_that_ignores_theta_has_no_gradient(library, rows, theta, weights) -> None:
    kernel = autodiff_kernel(lambda x, z, theta: 1.0 + (x * z).sum(), library)
    np.testing.assert_array_equal(kernel.evaluate(rows, theta).pullback(weights), 0.0)


@pytest.mark.autodiff
def test_the_users_precision_setting_is_left_alone(rows, theta) -> None:
    jax = pytest.importorskip("jax")
    before = jax.config.jax_enable_x64
    assert autodiff_kernel(jax_se, "jax").matrix(rows, rows, theta).dtype == np.float64
    assert jax.config.jax_enable_x64 == before
    assert jax.numpy.ones(1).dtype == (np.float64 if before else np.float32)


@pytest.mark.parametrize("library", ["jax", "torch"])
def test_a_missing_library_names_the_command(library, monkeypatch) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(autodiff.importlib, "import_module", missing)
    with pytest.raises(ImportError, match=rf"pip install 'ssvgp\[{library}\]'"):
        autodiff_kernel(torch_se, library)
