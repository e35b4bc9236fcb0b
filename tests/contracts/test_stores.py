"""What a model file promises, whatever was fitted. A new kind of fit, or a new kernel, is one line in a table below."""

from __future__ import annotations

import hashlib
import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from ssvgp import (
    AutoSettings,
    DataWarning,
    PaperSettings,
    Periodic,
    Polynomial,
    Prior,
    Product,
    SSVGPRegressor,
    StoreError,
    Sum,
    kernel_named,
    load,
    matern,
    rational_quadratic,
)
from ssvgp.gp.kernels.autodiff import AutodiffKernel
from ssvgp.gp.kernels.compose import KERNELS
from ssvgp.gp.kernels.families import Kernel, Stationary
from ssvgp.store import container
from ssvgp.store.container import Content
from ssvgp.store.kernels import expression_of, kernel_of

SHORT = PaperSettings(rounds=1, first_steps=20, steps=20, v=(1e3, 1e4))
LIGHT = AutoSettings(dense=SHORT, dense_sizes=(4,), dense_starts=1, draws=8, components=8)
MEAN_FIELD = PaperSettings(
    rounds=1, first_steps=20, steps=20, v=(1e3, 1e4), posterior="mean-field", predictive_samples=3
)

Table = tuple[Any, np.ndarray]


def light(**changes: Any) -> SSVGPRegressor:
    return SSVGPRegressor(**({"settings": LIGHT, "kernel": "se", "random_state": 0} | changes))


def plain(n: int = 50, d: int = 6) -> Table:
    rng = np.random.default_rng(0)
    X = 10.0 + 3.0 * rng.normal(size=(n, d))
    return X, 3.0 + 2.0 * np.sin(0.5 * X[:, 0]) + X[:, 3] + 0.3 * rng.normal(size=n)


def positive() -> Table:
    X, y = plain()
    return X, np.exp(0.1 * y)


def wide() -> Table:
    """Many small effects, so that members with a background carry weight."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 60)) * rng.uniform(1.0, 5.0, 60)
    return X, X @ rng.normal(size=60) / 8.0 + 0.3 * rng.normal(size=40)


def spectra() -> Table:
    """Columns that repeat each other, and a target in what is faint in all, so that the background is evened."""
    rng = np.random.default_rng(0)
    shapes, amounts = np.cumsum(rng.normal(size=(4, 60)), axis=1), rng.normal(size=(60, 4))
    X = (amounts * np.array([1.0, 0.2, 0.02, 0.01])) @ shapes + 1e-4 * rng.normal(size=(60, 60))
    return X, np.sin(1.5 * amounts[:, 2]) + amounts[:, 3] ** 2 + 0.02 * rng.normal(size=60)


def framed() -> Table:
    X, y = plain()
    frame = pd.DataFrame(X, columns=["a", "b <b>", "c", "d", "e", "f"])
    return frame.assign(copy=frame["a"], still=1.0), y


def constant() -> Table:
    return plain()[0], np.full(50, 7.0)


SEVERAL = ["se", Sum(matern(5), kernel_named("linear"), 0.3)]
CASES: dict[str, tuple[SSVGPRegressor, Callable[[], Table]]] = {
    "exact": (light(), plain),
    "prior": (light(prior=Prior(b=3.0), threshold=0.3), plain),
    "kernels": (light(kernel=SEVERAL), plain),
    "background": (light(), wide),
    "evened": (light(), spectra),
    "names": (light(), framed),
    "box-cox": (light(target_transform="box-cox"), positive),
    "yeo-johnson": (light(target_transform="yeo-johnson"), plain),
    "neighbours": (light(exact_limit=120, predict_neighbours=20), lambda: plain(n=200)),
    "single precision": (light(), lambda: (plain()[0].astype(np.float32), plain()[1])),
    "paper": (light(method="paper", settings=SHORT), plain),
    "mean field": (light(method="paper", settings=MEAN_FIELD), plain),
    "constant": (light(), constant),
}


class Case:
    """A fitted model, the same read from its file, and new rows."""

    def __init__(self, name: str, path: Path) -> None:
        model, make = CASES[name]
        X, y = make()
        self.model = clone(model).fit(X, y)
        self.path = path
        self.model.save(path)
        self.loaded = load(path)
        shift = np.random.default_rng(1).normal(size=(7, X.shape[1]))
        rows = np.asarray(X)[:7] + shift
        self.rows = pd.DataFrame(rows, columns=X.columns) if hasattr(X, "columns") else rows
        self.y = y[:7]


@pytest.fixture(scope="module", params=CASES)
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Case:
    path = tmp_path_factory.mktemp("store") / "model.ssvgp"
    if request.param == "names":
        with pytest.warns(DataWarning):
            return Case(request.param, path)
    return Case(request.param, path)


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Case:
    return Case("exact", tmp_path_factory.mktemp("store") / "model.ssvgp")


def same(one: Any, other: Any) -> bool:
    """Equal bit for bit, in every field of a record."""
    if hasattr(one, "__dataclass_fields__"):
        return all(same(getattr(one, name), getattr(other, name)) for name in one.__dataclass_fields__)
    if isinstance(one, tuple):
        return len(one) == len(other) and all(same(a, b) for a, b in zip(one, other, strict=True))
    return np.array_equal(one, other)


# --- what comes back --------------------------------------------------------------------------------------------


def test_predictions_are_the_same_bit_for_bit(case: Case) -> None:
    one, other, rows = case.model, case.loaded, case.rows
    assert same(one.predict(rows, return_std=True), other.predict(rows, return_std=True))
    assert same(one.predict_latent(rows, return_std=True), other.predict_latent(rows, return_std=True))
    assert same(one.predict_quantiles(rows), other.predict_quantiles(rows))
    assert same(one.sample_y(rows, 3), other.sample_y(rows, 3))
    assert same(one.log_predictive_density(rows, case.y), other.log_predictive_density(rows, case.y))


def test_what_was_found_is_the_same(case: Case) -> None:
    one, other = case.model, case.loaded
    for name in ("pip_", "inverse_lengthscales_", "weights_", "kept_", "noise_variance_", "n_features_in_"):
        assert same(getattr(one, name), getattr(other, name)), name
    assert one.variance_shares_ == other.variance_shares_ and one.duplicate_of_ == other.duplicate_of_
    assert same(one.get_support(), other.get_support()) and same(one.loo_, other.loo_)
    assert same(one.get_feature_names_out(), other.get_feature_names_out())
    assert same(getattr(one, "feature_names_in_", 0), getattr(other, "feature_names_in_", 0))
    for member, again in zip(one.members_, other.members_, strict=True):
        assert member.kernel == again.kernel and same(member.active, again.active)
        assert same(member.parameters, again.parameters) and same(member.inclusion, again.inclusion)


def test_effects_and_summary_are_the_same(case: Case) -> None:
    one, other = case.model, case.loaded
    active = sorted({int(j) for member in one.members_ for j in member.active})[:2]
    for j in [*active, 4]:  # the last is seldom one that a member looks at
        assert same(one.effect(j), other.effect(j))
    if len(active) == 2:
        assert same(one.interaction(*active), other.interaction(*active))
    pd.testing.assert_frame_equal(one.summary(), other.summary(), check_exact=True)
    assert one._repr_html_() == other._repr_html_()


def test_inputs_that_no_member_looks_at_can_be_selected(tmp_path: Path) -> None:
    """Their probability is made of sets that were priced and not visited; their columns are not in the file."""
    model = light(prior=Prior(with_background=0.0)).fit(*plain(n=100, d=40))
    model.save(tmp_path / "model")
    model, loaded = model.set_params(threshold=0.0), load(tmp_path / "model").set_params(threshold=0.0)
    stored = loaded.train_.X.stored
    assert loaded.get_support().sum() > stored.size
    pd.testing.assert_frame_equal(model.summary(), loaded.summary(), check_exact=True)
    other = next(j for j in range(40) if j not in stored)
    assert same(model.effect(other), loaded.effect(other)) and same(model.loo_, loaded.loo_)
    with pytest.raises(KeyError, match=r"only .* are kept"):
        loaded.train_.X[:, np.array([other])]


def test_parameters_survive_and_the_model_can_be_fitted_again(case: Case) -> None:
    assert repr(case.loaded) == repr(case.model)
    assert repr(clone(case.loaded)) == repr(clone(case.model))


def test_a_loaded_model_can_be_saved_again(case: Case, tmp_path: Path) -> None:
    case.loaded.save(tmp_path / "again")
    assert same(load(tmp_path / "again").predict(case.rows), case.model.predict(case.rows))


def test_a_loaded_model_pickles(case: Case) -> None:
    again = pickle.loads(pickle.dumps(case.loaded))
    assert same(again.predict(case.rows), case.model.predict(case.rows))


def test_backgrounds_are_there_to_be_tested(tmp_path: Path) -> None:
    for name in ("background", "evened"):
        model = Case(name, tmp_path / "model").model
        kinds = {member.background.name for member in model.members_ if member.background is not None}
        assert kinds and ("evened" in kinds) == (name == "evened")


@pytest.mark.parametrize("axes", [None, np.ones((59, 4)), np.ones(60), np.ones((60, 4), dtype=np.float32)])
def test_an_evened_background_without_axes_over_its_columns_is_an_error(tmp_path: Path, axes: Any) -> None:
    Case("evened", tmp_path / "model")
    content = container.read(tmp_path / "model")
    del content.arrays["term evened axes"]
    if axes is not None:
        content.arrays["term evened axes"] = axes
    container.write(tmp_path / "model", content)
    with pytest.raises(StoreError, match="axes"):
        load(tmp_path / "model")


FIRST = Path(__file__).parent / "files"  # written by version 0.1.0, with what it predicted


@pytest.mark.parametrize("name", ["background", "evened", "kernels"])
def test_files_of_the_first_version_are_read(name: str) -> None:
    expected = np.load(FIRST / "predictions.npz")
    rows = np.asarray(CASES[name][1]()[0])[:5] + 0.1
    mean, sd = load(FIRST / f"{name}.ssvgp").predict(rows, return_std=True)
    np.testing.assert_allclose(mean, expected[f"{name}_mean"], rtol=1e-9)
    np.testing.assert_allclose(sd, expected[f"{name}_sd"], rtol=1e-9)


# --- size -------------------------------------------------------------------------------------------------------


def test_only_the_columns_that_members_look_at_are_kept(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 1000))
    y = np.sin(X[:, :5] * np.linspace(0.5, 1.0, 5)).sum(axis=1) + 0.25 * rng.normal(size=300)
    model = light(prior=Prior(with_background=0.0)).fit(X, y)
    assert model.get_support(indices=True).tolist() == [0, 1, 2, 3, 4]
    model.save(tmp_path / "model")
    assert (tmp_path / "model").stat().st_size < 200_000
    assert same(load(tmp_path / "model").predict(X[:9]), model.predict(X[:9]))


def test_a_table_that_a_background_needs_takes_no_more_than_in_single_precision(tmp_path: Path) -> None:
    one = Case("background", tmp_path / "model")
    n, d = wide()[0].shape
    members = sum(8 * (2 * member.active.size + 4) for member in one.model.members_)
    kinds = {member.background.name for member in one.model.members_ if member.background is not None}
    assert one.path.stat().st_size < 4 * n * d + members + 8 * d * len(kinds) + 6_000
    assert np.array_equal(one.model.train_.X, one.model.train_.X.astype(np.float32))


# --- kernels ----------------------------------------------------------------------------------------------------

COMPOSED = {
    "rq": rational_quadratic(0.7),
    "poly": Polynomial(3, 0.5),
    "periodic": Periodic(matern(3), 1.5),
    "sum": Sum(matern(1), rational_quadratic(2.0), 0.25),
    "product": Product(Periodic(), Sum(Polynomial(), kernel_named("se"), 0.9)),
    "three": kernel_named("se+linear+matern32"),
}


@pytest.mark.parametrize("kernel", [*(make() for make in KERNELS.values()), *COMPOSED.values()], ids=lambda k: k.name)
def test_every_kernel_of_the_package_survives(kernel: Kernel) -> None:
    again = kernel_of(json.loads(json.dumps(expression_of(kernel))))
    assert again == kernel and again.name == kernel.name and again.local == kernel.local


class OddProfile:
    """A profile that a user might write."""

    def value(self, m: np.ndarray) -> np.ndarray:
        return np.exp(-0.5 * m)

    def with_derivative(self, m: np.ndarray, floor: float) -> tuple[np.ndarray, np.ndarray]:
        value = self.value(m)
        return value, -0.5 * value


OWN = AutodiffKernel(len, "jax", "mine", True, False, True)


@pytest.mark.parametrize("kernel", [OWN, Stationary("mine", OddProfile()), Sum(kernel_named("se"), OWN)])
def test_a_kernel_that_is_code_cannot_be_saved(kernel: Any) -> None:
    with pytest.raises(StoreError, match=r"'mine' is code of your own.*pickle it"):
        expression_of(kernel)


def test_a_model_with_a_kernel_of_the_users_own_says_so_and_leaves_no_file(tmp_path: Path) -> None:
    model = light(kernel=Stationary("mine", OddProfile())).fit(*plain())
    with pytest.raises(StoreError, match="code of your own"):
        model.save(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("expression", [None, {"kind": "spline"}, {"kind": "periodic", "inner": {"kind": "poly"}}])
def test_an_unknown_kernel_is_an_error(expression: Any) -> None:
    with pytest.raises((StoreError, KeyError)):
        kernel_of(expression)


def test_a_bottomless_expression_is_an_error() -> None:
    expression: Any = {"kind": "se"}
    for _ in range(10**5):
        expression = {"kind": "product", "first": expression, "second": {"kind": "se"}}
    with pytest.raises(StoreError, match="without end"):
        kernel_of(expression)


# --- files that are not what they should be ---------------------------------------------------------------------


@pytest.mark.parametrize("share", [0.0, 0.001, 0.5, 0.999])
def test_a_file_cut_short_is_an_error(stored: Case, tmp_path: Path, share: float) -> None:
    content = stored.path.read_bytes()
    (tmp_path / "cut").write_bytes(content[: int(share * len(content))])
    with pytest.raises(StoreError, match=r"cut short or altered|no file of an ssvgp model"):
        load(tmp_path / "cut")


def test_a_change_of_any_byte_is_an_error(stored: Case, tmp_path: Path) -> None:
    content = stored.path.read_bytes()
    places = [*range(0, 100), *np.random.default_rng(0).integers(100, len(content), 100).tolist(), len(content) - 1]
    for place in places:
        altered = bytearray(content)
        altered[place] ^= 1
        (tmp_path / "altered").write_bytes(bytes(altered))
        with pytest.raises(StoreError):
            load(tmp_path / "altered")


def test_bytes_after_the_end_are_an_error(stored: Case, tmp_path: Path) -> None:
    (tmp_path / "longer").write_bytes(stored.path.read_bytes() + b"x")
    with pytest.raises(StoreError, match="altered"):
        load(tmp_path / "longer")


def test_a_newer_format_asks_for_an_upgrade(stored: Case, tmp_path: Path) -> None:
    content = stored.path.read_bytes().replace(b"format 1\n", b"format 2\n", 1)
    (tmp_path / "newer").write_bytes(content)
    with pytest.raises(StoreError, match=r"format 2.*up to 1: upgrade ssvgp"):
        load(tmp_path / "newer")


def test_another_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "pickle").write_bytes(pickle.dumps({"a": 1}))
    with pytest.raises(StoreError, match="no file of an ssvgp model"):
        load(tmp_path / "pickle")
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "missing")


class Bomb:
    """Runs code when it is unpickled."""

    def __reduce__(self) -> Any:
        return (Path("exploded").write_text, ("boom",))


def test_a_pickle_inside_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    buffer = tmp_path / "inner.npz"
    np.savez(buffer, header=np.array([Bomb()], dtype=object), allow_pickle=True)
    payload = buffer.read_bytes()
    head = container.MAGIC + b"1\n" + hashlib.sha256(payload).hexdigest().encode() + b"\n"
    (tmp_path / "bomb").write_bytes(head + payload)
    with pytest.raises(StoreError, match="does not hold what a model is made of"):
        load(tmp_path / "bomb")
    assert not (tmp_path / "exploded").exists()


CHANGES: dict[str, Callable[[Content], Any]] = {
    "no members": lambda c: c.arrays.pop("sizes"),
    "an active input out of range": lambda c: c.arrays.update(active=c.arrays["active"] + 100),
    "a short table": lambda c: c.arrays.update(X=c.arrays["X"][:-1]),
    "names for other columns": lambda c: c.header.update(names=["a"]),
    "an unknown curve": lambda c: c.header.update(curve="spline"),
    "an unknown parameter": lambda c: c.header["parameters"].update(speed=3),
    "an unknown record": lambda c: c.header["parameters"].update(prior={"record": "os.system", "fields": {}}),
    "an unknown background": lambda c: c.header.update(backgrounds=["cubic"] * 99),
    "weights of other members": lambda c: c.arrays.update(weights=np.ones(1000)),
    "texts for numbers": lambda c: c.arrays.update(kept=np.array(["a"] * 6)),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_file_with_other_content_is_an_error(stored: Case, tmp_path: Path, change: Any) -> None:
    content = container.read(stored.path)
    change(content)
    container.write(tmp_path / "other", content)
    with pytest.raises(StoreError):
        load(tmp_path / "other")


def test_a_failed_write_keeps_the_old_file(stored: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "model"
    target.write_bytes(b"old")

    def fail(*_: Any) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(OSError, match="disk full"):
        stored.model.save(target)
    assert target.read_bytes() == b"old" and list(tmp_path.iterdir()) == [target]


def test_an_unfitted_model_cannot_be_saved(tmp_path: Path) -> None:
    with pytest.raises(NotFittedError):
        light().save(tmp_path / "model")


def test_a_callback_and_a_generator_are_left_out(tmp_path: Path) -> None:
    model = light(callback=print, random_state=np.random.default_rng(0))
    model.callback = lambda report: None
    model.fit(*plain()).save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.callback is None and again.random_state is None
