"""The dictionary against loops over all its products: what each strength is, what is looked at and what is seen."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, product
from math import comb, prod

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp
from scipy.stats import chi2

from ssvgp.gp.kernels.compose import kernel_named
from ssvgp.gp.marginal import State, state
from ssvgp.records import Parameters
from ssvgp.run.workers import Workers
from ssvgp.search import dictionary as module
from ssvgp.search import scene as singles
from ssvgp.search.dictionary import Order, affordable, groups
from ssvgp.search.scene import Scene, scene, single_nats, tail_nats
from ssvgp.search.shapes import FINE, SLOW, Shapes

WAVES = 12
NOTHING = Parameters(np.zeros(0), scale=0.0, noise=1.0, mean=1.0)
AT = Parameters(np.array([0.7]), scale=1.3, noise=0.1, mean=1.0)


def looked_at(slow: np.ndarray, alpha: np.ndarray, bar: float, size: int) -> tuple[np.ndarray, np.ndarray]:
    """All products of three or four of the inputs above the bar, as a look finds them."""
    q = slow.shape[2]
    if size == 3:
        return module._together([module._triples(slow, alpha, bar, c) for c in range(2, q)])
    tables = module._pair_table(slow)
    return module._together([module._quadruples(slow, alpha, bar, b, *tables) for b in range(1, q - 2)])


def empty(X: np.ndarray, y: np.ndarray, waves: int = WAVES) -> Scene:
    """The scene at no inputs."""
    at = state(kernel_named("se"), X[:, []], (y - y.mean()) / y.std(), NOTHING)
    return scene(at.alpha, [at.precision], None, Shapes(X, waves))


def member(X: np.ndarray, y: np.ndarray) -> State:
    """Input 0 in a squared exponential."""
    return state(kernel_named("se"), X[:, [0]], (y - y.mean()) / y.std(), AT)


def beside_the_first(X: np.ndarray, y: np.ndarray, directions: bool = True) -> Scene:
    """The scene at input 0, with or without the directions of what it explains."""
    at = member(X, y)
    sparse = at.kernel.matrix if directions else None
    return scene(at.alpha, [at.precision], sparse, Shapes(X, WAVES))


def noise(n: int = 60, d: int = 7, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)), rng.standard_normal(n)


def slow_products(view: Scene, inputs: tuple[int, ...]) -> Iterator[np.ndarray]:
    """Every product (n,) of one slow shape of each input, in double precision."""
    slow = view.shapes.slow(np.arange(view.shapes.d)).astype(float)
    for kinds in product(range(SLOW), repeat=len(inputs)):
        yield prod((slow[k, :, j] for k, j in zip(kinds, inputs, strict=True)), start=np.ones(view.n))


def by_loops(view: Scene, size: int) -> dict[tuple[int, ...], float]:
    """Strength of the best product of each group: of pairs by g / c, of more by phi' alpha over its own size."""
    alpha, weight = view.alpha.astype(float), view.weight.astype(float)
    out = {}
    for inputs in combinations(range(view.shapes.d), size):
        best = 0.0
        for phi in slow_products(view, inputs):
            c = weight if size == 2 else alpha**2
            best = max(best, float((phi @ alpha) ** 2 / (c @ phi**2)))
        out[inputs] = float(tail_nats(np.array(best), 1))
    return out


# --- strengths ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("freedom", [1, 2, 3, 6, 12, 13])
def test_strengths_are_minus_the_log_tail_of_a_chi_square(freedom: int) -> None:
    total = np.concatenate([np.linspace(0.0, 50.0, 26), [100.0, 400.0, 1000.0]])
    assert tail_nats(total, freedom) == pytest.approx(-chi2.logsf(total, freedom), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("freedom", [2, 6, 12])
def test_strengths_go_on_where_the_tail_is_below_the_smallest_double(freedom: int) -> None:
    """For even degrees of freedom the tail is a sum of Poisson probabilities, whose logs have no end."""
    for total in (1400.0, 1600.0, 5000.0, 1e5):
        k = np.arange(freedom // 2)
        exact = 0.5 * total - logsumexp(k * np.log(0.5 * total) - gammaln(k + 1.0))
        assert tail_nats(np.array(total), freedom) == pytest.approx(exact, abs=0.05)


@pytest.mark.parametrize("freedom", [1, 3, 13])
def test_strengths_never_fall_as_the_score_rises(freedom: int) -> None:
    found = tail_nats(np.linspace(0.0, 3000.0, 30_001), freedom)
    assert np.all(np.diff(found) > -1e-9)
    assert tail_nats(np.array(-3.0), freedom) == 0.0


def test_strengths_are_those_of_chance_on_noise() -> None:
    """Strengths of one product have the density exp(-nats) where there is no effect."""
    X, y = noise(n=400, d=300)
    view = empty(X, y)
    t = singles._ratio(view, view.directions[0], *(view.shapes.waves(slice(0, 300))[3] ** p for p in (1, 2)))
    nats = tail_nats(t, 1)
    assert nats.mean() == pytest.approx(1.0, abs=4.0 / np.sqrt(300))
    assert (nats > 2.0).mean() == pytest.approx(np.exp(-2.0), abs=0.08)


def test_the_score_of_a_product_is_g_over_c_by_loops() -> None:
    X, y = noise()
    view = beside_the_first(X, y)
    slow = view.shapes.slow(np.arange(7)).astype(float)
    expected = {}
    for i, j in combinations(range(7), 2):
        best = 0.0
        for r, u in enumerate(view.directions.astype(float)):
            for a, b in product(range(SLOW if r == 0 else module.THROUGH), repeat=2):
                g = c = 0.0
                for row in range(view.n):
                    phi = slow[a, row, i] * slow[b, row, j] * u[row]
                    g += phi * float(view.alpha[row])
                    c += phi * phi * float(view.weight[row])
                best = max(best, g * g / c)
        expected[i, j] = -chi2.logsf(best, 1)
    found = {one.inputs: one.nats for one in groups(view, Order(2, 7, SLOW, 5), np.arange(7))}
    assert {inputs: found[inputs] for inputs in expected} == pytest.approx(expected, rel=1e-3)


def test_the_diagonal_of_the_precision_is_enough_to_rank() -> None:
    """c = phi' P phi and what the diagonal says of it differ little against how much scores of products do."""
    X, y = noise(n=120, d=20)
    at, view = member(X, y), beside_the_first(X, y)
    wave = view.shapes.waves(slice(1, 20))[1].astype(float)
    exact = ((at.alpha @ wave) ** 2) / np.einsum("ij,ik,kj->j", wave, at.precision, wave)
    quick = singles._ratio(view, view.directions[0], wave, wave**2)
    assert np.argmax(exact) == np.argmax(quick)
    assert np.corrcoef(np.argsort(np.argsort(exact)), np.argsort(np.argsort(quick)))[0, 1] > 0.95


# --- what is looked at --------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [3, 4])
def test_every_combination_is_looked_at_once(size: int) -> None:
    X, y = noise()
    view = empty(X, y)
    slow, alpha = view.shapes.slow(np.arange(7))[:SLOW], view.alpha
    seen: dict[tuple[tuple[int, int], ...], float] = {}
    for score, parts in zip(*looked_at(slow, alpha, -1.0, size), strict=True):
        key = tuple(sorted((int(parts[2 * i]), int(parts[2 * i + 1])) for i in range(size)))
        assert key not in seen
        seen[key] = float(score)
    assert len(seen) == comb(7, size) * SLOW**size
    for key, score in seen.items():
        phi = prod((slow[k, :, j].astype(float) for j, k in key), start=np.ones(view.n))
        assert len({j for j, _ in key}) == size
        assert score == pytest.approx(abs(phi @ alpha), abs=1e-3)


@pytest.mark.parametrize("size", [2, 3, 4])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_leaders_are_those_of_a_loop_over_all_combinations(
    size: int, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "HELD", 1.0)  # ranked on all rows, as the loop does
    monkeypatch.setattr(module, "LOUDEST", np.inf)
    view = empty(*noise(seed=seed))
    slow = by_loops(view, size)
    leaders = sorted(slow, key=lambda inputs: -slow[inputs])[:3]
    found = groups(view, Order(size, 7, SLOW), np.arange(7))
    assert [one.inputs for one in found[:3]] == leaders
    assert [one.nats for one in found[:3]] == pytest.approx([slow[inputs] for inputs in leaders], rel=1e-3)


@pytest.mark.parametrize("size", [2, 3, 4])
def test_groups_are_of_different_inputs_of_the_given_columns_each_once_and_best_first(size: int) -> None:
    X, y = noise(d=12)
    columns = np.array([1, 2, 4, 7, 8, 11])
    found = groups(empty(X, y), Order(size, 6, SLOW), columns)
    inputs = [one.inputs for one in found]
    assert len(set(inputs)) == len(inputs) > 0
    assert all(list(one) == sorted(set(one)) and len(one) == size and set(one) <= set(columns) for one in inputs)
    assert [one.nats for one in found] == sorted((one.nats for one in found), reverse=True)


@pytest.mark.parametrize("size", [2, 3, 4])
def test_too_few_columns_or_nothing_to_explain_have_no_groups(size: int) -> None:
    X, y = noise()
    assert groups(empty(X, y), Order(size, 7, SLOW), np.arange(size - 1)) == []
    nothing = scene(np.zeros(60), [np.eye(60)], None, Shapes(X, WAVES))
    assert groups(nothing, Order(size, 7, SLOW), np.arange(7)) == []


@pytest.mark.parametrize("size", [2, 3, 4])
@pytest.mark.parametrize("operations", [1e4, 1e7, 1e9, 1e11, 1e14])
def test_looks_keep_to_their_operations_and_no_wider_one_would(size: int, operations: float) -> None:
    for n, d in ((100, 10), (300, 100), (500, 2000)):
        looks = affordable(size, n, d, operations)
        for look in looks:
            assert look.size == size and size <= look.inputs <= d and 1 <= look.shapes <= FINE
            assert look.operations(n) <= operations
        if looks and (last := looks[-1]).inputs < d:
            assert replace(last, inputs=last.inputs + 1).operations(n) > operations
        if len(looks) == 2:  # all inputs by slow shapes, then some by all shapes
            assert looks[0].inputs == d and looks[0].shapes < looks[1].shapes == FINE


@pytest.mark.parametrize("size", [2, 3, 4])
def test_more_operations_and_fewer_rows_never_make_looks_narrower(size: int) -> None:
    def width(n: int, operations: float) -> tuple[int, int]:
        looks = affordable(size, n, 400, operations)
        return max((look.inputs for look in looks), default=0), max(
            (look.inputs * look.shapes for look in looks), default=0
        )

    by_operations = [width(300, operations) for operations in np.logspace(5, 14, 40)]
    assert by_operations == sorted(by_operations)
    by_rows = [width(n, 1e11) for n in (1000, 500, 200, 100, 50)]
    assert by_rows == sorted(by_rows)


def test_a_look_at_larger_groups_has_no_more_inputs() -> None:
    inputs = [max(look.inputs for look in affordable(size, 300, 5000, 1e11)) for size in (2, 3, 4)]
    assert inputs == sorted(inputs, reverse=True)


# --- what is seen -------------------------------------------------------------------------------------------

SHAPED = {
    "x, x": (lambda x: x, lambda x: x),
    "x^2, x": (lambda x: x**2 - 1.0, lambda x: x),
    "step, x": (lambda x: np.sign(x), lambda x: x),
    "x, x, x": (lambda x: x,) * 3,
    "x^2, x, step": (lambda x: x**2 - 1.0, lambda x: x, lambda x: np.sign(x)),
    "x, x, x, x": (lambda x: x,) * 4,
    "sin, x, step, x^2": (lambda x: np.sin(3.0 * x), lambda x: x, lambda x: np.sign(x), lambda x: x**2 - 1.0),
}


@pytest.mark.parametrize("kinds", SHAPED)
def test_a_pure_product_ranks_first(kinds: str) -> None:
    effects = SHAPED[kinds]
    rng = np.random.default_rng(0)
    X = rng.standard_normal((250, 20))
    true = (3, 8, 11, 17)[: len(effects)]
    f = prod((effect(X[:, j]) for effect, j in zip(effects, true, strict=True)), start=np.ones(250))
    view = empty(X, f + 0.3 * f.std() * rng.standard_normal(250))
    found = groups(view, Order(len(true), 20, SLOW), np.arange(20))
    assert found[0].inputs == true
    assert found[0].nats > found[1].nats + 3.0


def test_a_product_of_two_shows_under_its_own_shapes_and_not_under_plain_products() -> None:
    rng = np.random.default_rng(1)
    X = rng.standard_normal((200, 30))
    y = (X[:, 4] ** 2 - 1.0) * X[:, 9] + 0.5 * rng.standard_normal(200)
    view = empty(X, y)
    assert groups(view, Order(2, 30, SLOW), np.arange(30))[0].inputs == (4, 9)
    assert groups(view, Order(2, 30, 1), np.arange(30))[0].inputs != (4, 9)


def test_a_fast_wave_of_one_input_is_seen_by_all_shapes_and_not_by_three() -> None:
    strengths = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((250, 60))
        f = np.sin(6.0 * X[:, 13])
        y = f + 0.3 * f.std() * rng.standard_normal(250)
        every, few = single_nats(empty(X, y)), single_nats(empty(X, y, waves=3))
        assert np.argmax(every) == 13 and every[13] > np.log(60) + 50.0
        strengths.append(few[13])
    assert np.median(strengths) < np.log(60)  # what the strongest of 60 idle inputs shows


def test_a_pure_square_is_seen() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 40))
    nats = single_nats(empty(X, X[:, 4] ** 2 + 0.3 * rng.standard_normal(120)))
    assert np.argmax(nats) == 4 and nats[4] > 20.0


def test_noise_shows_nothing_beyond_the_number_of_inputs() -> None:
    """The strongest of d inputs without effect is about log d, three looks at each included."""
    highest = [single_nats(empty(*noise(n=100, d=200, seed=seed))).max() for seed in range(5)]
    assert max(highest) < np.log(200) + np.log(3.0) + 4.0


def test_an_effect_through_an_active_input_is_seen_with_directions_and_not_without() -> None:
    rng = np.random.default_rng(3)
    X = rng.standard_normal((200, 40))
    y = np.sin(1.5 * X[:, 0]) + 0.8 * np.sin(1.5 * X[:, 0]) * X[:, 7] + 0.2 * rng.standard_normal(200)
    with_them, without = (single_nats(beside_the_first(X, y, directions)) for directions in (True, False))
    for nats in (with_them, without):
        nats[0] = 0.0
    assert np.argmax(with_them) == 7
    assert with_them[7] > without[7] + 5.0


def test_a_pair_through_an_active_input_is_seen_with_directions_and_not_without() -> None:
    rng = np.random.default_rng(4)
    X = rng.standard_normal((250, 30))
    y = X[:, 0] + X[:, 0] * X[:, 5] * X[:, 21] + 0.2 * rng.standard_normal(250)
    found = groups(beside_the_first(X, y), Order(2, 30, SLOW, 5), np.arange(30))
    blind = groups(beside_the_first(X, y), Order(2, 30, SLOW), np.arange(30))
    assert found[0].inputs == (5, 21)
    assert blind[0].inputs != (5, 21)


# --- how it is computed -------------------------------------------------------------------------------------


def test_single_precision_ranks_pairs_as_double_does() -> None:
    view = empty(*noise(n=150, d=40, seed=5))
    exact = by_loops(view, 2)
    found = [one.inputs for one in groups(view, Order(2, 40, SLOW), np.arange(40))]
    assert found[:50] == sorted(exact, key=lambda inputs: -exact[inputs])[:50]


@pytest.mark.parametrize(("size", "d"), [(3, 30), (4, 14)])
def test_single_precision_ranks_larger_products_as_double_does(size: int, d: int) -> None:
    view = empty(*noise(n=150, d=d, seed=5))
    bar = 2.5 * float(np.linalg.norm(view.alpha))
    ranks = []
    for precision in (np.float32, np.float64):
        slow, alpha = view.shapes.slow(np.arange(d))[:SLOW].astype(precision), view.alpha.astype(precision)
        score, parts = looked_at(slow, alpha, bar, size)
        ranks.append(parts[np.argsort(-score, kind="stable")[:50]])
    assert np.array_equal(*ranks)


def test_single_precision_ranks_inputs_as_double_does() -> None:
    X, y = noise(n=150, d=300)
    view = beside_the_first(X, y)
    alpha, weight, directions = (part.astype(float) for part in (view.alpha, view.weight, view.directions))
    wide = Scene(alpha, weight, tuple(one.astype(float) for one in view.precisions), directions, view.shapes)
    exact = single_nats(wide)
    assert single_nats(view) == pytest.approx(exact, rel=1e-3, abs=1e-4)
    assert np.array_equal(np.argsort(-single_nats(view))[:30], np.argsort(-exact)[:30])


@pytest.mark.parametrize("size", [2, 3, 4])
def test_two_threads_find_what_one_finds(size: int) -> None:
    X, y = noise(d=12)
    view, order = empty(X, y), Order(size, 12, SLOW)
    with Workers(2) as workers:
        assert groups(view, order, np.arange(12), workers) == groups(view, order, np.arange(12))


def test_strengths_do_not_depend_on_how_columns_are_batched(monkeypatch: pytest.MonkeyPatch) -> None:
    view = beside_the_first(*noise(d=11))
    whole = single_nats(view)
    monkeypatch.setattr(singles, "COLUMNS", 4)
    assert single_nats(view) == pytest.approx(whole, rel=1e-5)


def test_quadruples_do_not_depend_on_how_products_are_batched(monkeypatch: pytest.MonkeyPatch) -> None:
    view, order = empty(*noise(d=9)), Order(4, 9, SLOW)
    whole = groups(view, order, np.arange(9))
    monkeypatch.setattr(module, "TABLE", 64)
    parts = groups(view, order, np.arange(9))
    assert [one.inputs for one in parts] == [one.inputs for one in whole]


@pytest.mark.parametrize(("size", "d"), [(2, 300), (3, 120), (4, 40)])
def test_a_look_takes_little_memory(size: int, d: int) -> None:
    """Products are made when they are scored, never all at once."""
    view, order = empty(*noise(n=200, d=d)), Order(size, d, SLOW, 5 if size == 2 else 0)
    view.shapes.slow(np.arange(d))
    tracemalloc.start()
    groups(view, order, np.arange(d))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 16 * 2**20


def test_a_column_of_two_levels_has_one_shape() -> None:
    rng = np.random.default_rng(5)
    X = (rng.uniform(size=(200, 300)) < 0.5).astype(float)
    waves = Shapes(X, WAVES).waves(slice(0, 300))
    assert np.array_equal(np.any(waves, axis=1).sum(0), np.ones(300))
    nats = single_nats(empty(X, rng.standard_normal(200)))
    assert nats.max() < np.log(300) + 4.0  # twelve copies of it had twenty nats and more


def test_a_column_with_outliers_is_seen_as_it_is() -> None:
    rng = np.random.default_rng(6)
    X = rng.standard_t(1.5, size=(150, 40))
    y = np.clip(X[:, 7], -30, 30) + 3.0 * rng.standard_normal(150)
    assert np.argmax(single_nats(empty(X, y))) == 7


def test_shapes_that_are_alike_count_once() -> None:
    view = empty(*noise(n=150, d=60))
    alike = np.stack([view.shapes.waves(slice(0, 60))[0]] * WAVES)
    plain = view.shapes.plain(slice(0, 60))
    assert singles._jointly(view, plain, alike).max() < np.log(60) + 4.0


def test_the_size_of_what_is_left_shows_every_input_of_a_product() -> None:
    rng = np.random.default_rng(7)
    X = rng.standard_normal((500, 50))
    y = X[:, 3] * np.sin(2.0 * X[:, 11]) * (X[:, 20] ** 2 - 1.0) * X[:, 44]
    view = empty(X, y + 0.1 * y.std() * rng.standard_normal(500))
    loud = singles.loud_nats(view)
    assert set(np.argsort(-loud)[:4]) == {3, 11, 20, 44}
    assert np.sort(loud)[-4] > np.log(50) + 3.0 > np.sort(loud)[-5]
    assert np.sort(single_nats(view))[-1] < np.log(50) + 4.0  # none of them alone


def test_noise_is_not_loud() -> None:
    tops = [singles.loud_nats(empty(*noise(n=200, d=100, seed=seed))).max() for seed in range(20)]
    assert np.mean(np.array(tops) > np.log(100) + 3.0) <= 0.15  # about exp(-3) each, by three nested tests
