"""What n and d decide has one home: a parser looks for comparisons elsewhere; thresholds are met on both sides."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from ssvgp import AutoSettings, PaperSettings, Prior, SSVGPRegressor
from ssvgp.settings import regime_for

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "ssvgp"
ROOMS = ("search", "evidence", "method", "explain", "estimator")
DATA = {"X", "y"}  # names whose size is n or d
MEASURES = {"n", "d"}


def files() -> list[Path]:
    """The modules that may not decide by size; algebra may choose its algorithm, and is not among them."""
    return [path for room in ROOMS for path in sorted((PACKAGE / room).rglob("*.py")) or [PACKAGE / room]]


def last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def counts(node: ast.expr) -> bool:
    """Whether an expression is n or d: `n`, `train.n`, `X.shape[0]`, `block.y.size`, `len(y)`."""
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute):
        return node.value.attr == "shape" and last_name(node.value.value) in DATA
    if isinstance(node, ast.Call):
        return last_name(node.func) == "len" and len(node.args) == 1 and last_name(node.args[0]) in DATA
    if isinstance(node, ast.Attribute) and node.attr == "size":
        return last_name(node.value) == "y"
    return last_name(node) in MEASURES


def terms(node: ast.expr) -> Iterator[ast.expr]:
    """What a side of a comparison is made of, by arithmetic and by min and max."""
    if isinstance(node, ast.BinOp):
        yield from terms(node.left)
        yield from terms(node.right)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in {"min", "max"}:
        for argument in node.args:
            yield from terms(argument)
    else:
        yield node


def fixed(node: ast.expr) -> bool:
    """Whether a term is a number, a module constant, or a field of settings or of the estimator."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, (int, float))
    if isinstance(node, ast.UnaryOp):
        return fixed(node.operand)
    if isinstance(node, ast.Attribute):
        owners = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
        return bool(owners & {"settings", "search"}) or node.attr.endswith(("_limit", "_rows", "_neighbours"))
    return isinstance(node, ast.Name) and (node.id.isupper() or node.id in {"limit", "most"})


def decisions(tree: ast.AST) -> list[str]:
    """Comparisons of n or d, alone or in arithmetic, with what is fixed; ratios of two sizes are no decision."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            sides = [list(terms(side)) for side in (node.left, *node.comparators)]
            measured = [side for side in sides if any(counts(term) for term in side)]
            others = [side for side in sides if side not in measured]
            if measured and others and any(all(fixed(term) for term in side) for side in others):
                found.append(f"line {node.lineno}: {ast.unparse(node)}")
    return found


@pytest.mark.parametrize("path", files(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_nobody_but_the_regime_compares_rows_or_inputs_with_a_number(path: Path) -> None:
    assert not decisions(ast.parse(path.read_text()))


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("train.n > settings.exact_rows", True),
        ("problem.n <= 150", True),
        ("d <= MANY", True),
        ("X.shape[0] > self.exact_limit", True),
        ("self.train_.n <= limit", True),
        ("block.y.size < 2 * settings.first_rows", True),
        ("2 * len(y) <= max(LEAST, 40)", True),
        ("train.n // 4 == 0", True),
        ("part.problem.n < book.problem.n", False),
        ("r >= n", False),
        ("n <= d", False),
        ("table.shape[1] > 1", False),
        ("regime.exact and weight < regime.negligible", False),
        ("counts.max() > COMMON * y.size", False),
    ],
)
def test_the_parser_tells_decisions_from_other_comparisons(line: str, wrong: bool) -> None:
    assert bool(decisions(ast.parse(line))) == wrong


def test_up_to_half_of_the_exact_limit_all_rows_are_searched_and_beyond_blocks_come_first() -> None:
    few, more = regime_for(1000, 20), regime_for(1001, 20)
    assert few.exact and few.scout is None and more.exact
    blocks = more.scout
    assert blocks is not None and not blocks.exact and blocks.scout is None
    assert few.kernels == more.kernels[:-1] and more.kernels[-1] == "matern12" and blocks.kernels == more.kernels
    assert max(more.slab_scales) > max(few.slab_scales) and blocks.slab_scales == more.slab_scales
    assert few.components is not None and more.components is not None and blocks.components is None
    assert few.first_rows == 250 and blocks.first_rows is None
    assert more.moves == blocks.moves and more.moves.reach < more.search.reach and few.moves is few.search
    assert regime_for(101, 5, exact_limit=200).scout is not None
    assert max(regime_for(101, 5, exact_limit=200).slab_scales) == max(more.slab_scales)
    assert regime_for(101, 5, AutoSettings(exact_rows=101), exact_limit=200).scout is None


def test_evidence_is_of_all_rows_as_long_as_these_cost_no_more_than_the_largest_blocks() -> None:
    last, beyond = regime_for(2519, 20), regime_for(2520, 20)
    assert last.exact and last.scout is not None and last.rows_together == 2519
    assert not beyond.exact and beyond.scout is None and beyond.rows_together == 2000
    assert not regime_for(300, 20, AutoSettings(exact_rows=200, polish_rows=100)).exact
    assert regime_for(2000, 20).components is not None and regime_for(2001, 20).components is None
    assert regime_for(1001, 20, PaperSettings()).scout is None


def test_predictions_and_checks_have_their_limits() -> None:
    assert regime_for(2000, 5).predict_neighbours is None
    assert regime_for(2001, 5, predict_neighbours=99).predict_neighbours == 99
    assert [regime_for(n, 5, PaperSettings()).predict_neighbours for n in (9999, 10_000)] == [None, 256]
    assert regime_for(2000, 5).check_rows is None and regime_for(2001, 5).check_rows == 1000
    assert (
        regime_for(301, 5, exact_limit=300).check_rows == 1000
        and regime_for(3000, 5, exact_limit=3000).check_rows is None
    )


def test_every_set_is_visited_where_rows_and_inputs_are_few() -> None:
    assert regime_for(150, 8).every_set
    assert not regime_for(151, 8).every_set and not regime_for(150, 9).every_set
    assert [regime_for(n, 4).expanded for n in (50, 200, 1000, 1001, 2520)] == [60, 10, 10, 1, 1]
    assert regime_for(149, 4).threads(4) == 1 and regime_for(151, 4).threads(4) == 4


def test_the_dense_start_is_left_out_of_the_widest_tables_and_takes_small_batches_of_tall_ones() -> None:
    assert regime_for(100, 32_769).dense is None
    small, tall, wide = (regime_for(n, d).dense for n, d in ((512, 9), (513, 2097), (513, 2098)))
    assert small is not None and small.minibatch is None
    assert tall is not None and (tall.minibatch, tall.minibatch_kind) == (128, "nearest")
    assert wide is not None and wide.minibatch_kind == "uniform"


def test_backgrounds_need_many_inputs_for_the_rows_that_are_seen_together() -> None:
    assert regime_for(100, 25).backgrounds == () and "steep" in regime_for(100, 26).backgrounds
    many = regime_for(2520, 63).backgrounds
    assert "rough" in many and "steep" not in many
    assert regime_for(2520, 62).backgrounds == () and regime_for(1001, 63).backgrounds == ()


def test_a_regime_is_one_readable_line() -> None:
    line = str(regime_for(300, 100))
    assert line.startswith("300 rows, 100 inputs: exact; kernels se, matern52") and "\n" not in line
    assert "blocks of 250 rows" in str(regime_for(5000, 100)) and "256 neighbours" in str(regime_for(5000, 100))
    assert "the paper's method on minibatches of 75 rows" in str(regime_for(300, 100, PaperSettings()))


def test_a_fitted_model_tells_its_regime() -> None:
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.standard_normal((40, 3)), np.ones(40)])
    with pytest.warns(UserWarning):
        model = SSVGPRegressor(kernel="se", prior=Prior(), settings=AutoSettings(draws=4)).fit(X, X[:, 0])
    assert (model.regime_.n, model.regime_.d) == (40, 3)  # the constant column is no input
    assert model.regime_ == regime_for(40, 3, AutoSettings(draws=4))


def test_labels_ask_for_a_background_earlier_than_numbers() -> None:
    """A label tells at most a quarter of what a number under unit noise does."""
    assert not regime_for(400, 100).backgrounds and regime_for(400, 101).backgrounds
    assert not regime_for(400, 25, worth=0.25).backgrounds and regime_for(400, 26, worth=0.25).backgrounds
    X, y = np.random.default_rng(0).normal(size=(60, 5)), np.arange(60) % 2.0
    model = SSVGPRegressor(likelihood="bernoulli", kernel="linear", random_state=0).fit(X, y)
    assert model.regime_.backgrounds


def test_a_background_of_labels_is_counted_in_units_of_their_noise() -> None:
    usual, free = Prior().for_data(100, 20), Prior().for_data(100, 20, spread=3.0)
    assert usual.log_background is not None and free.log_background is not None
    assert free.log_background[0] == pytest.approx(usual.log_background[0] + np.log(3.0))
    assert free.log_background[1] == pytest.approx(np.hypot(1.0, Prior().log_scale[1]))
    given = Prior(log_background=(0.0, 1.0)).for_data(100, 20, spread=3.0)
    assert given.log_background == (0.0, 1.0)


def test_the_level_of_labels_is_free_where_all_rows_have_one() -> None:
    given = Prior(mean=2.0)
    assert Prior().for_data(100, 20).mean == 1.0
    assert Prior().for_data(100, 20, spread=3.0, together=False).mean == 1.0
    assert given.for_data(100, 20, spread=3.0).mean == given.level == 2.0
    X, y = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 2.0
    for likelihood, free in {"bernoulli": True, "poisson": True, "gaussian": False, "student-t": False}.items():
        model = SSVGPRegressor(likelihood=likelihood, kernel="linear", random_state=0).fit(X, y)
        levels = {member.parameters.mean for member in model.fitted_.ensemble.members}
        assert levels == {Prior().for_data(60, 2, spread=1.0 if free else None).mean}
