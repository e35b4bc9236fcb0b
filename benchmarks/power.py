"""Does power grow with the number of rows, and is a PIP a probability where fits rest on blocks?

    y = sin(1.2 x0) + sum_j b_j x_j + 0.05 x7 x8 + noise of sd 1,   d = 30, b = 0.02, 0.03, 0.05, 0.08, 0.12

`weak`: PIP of at least 0.95 for every effect of eight standard errors or more is asked for, those of the product
included, and no idle input selected. `tails`: the same under Student-t noise of three degrees of freedom, which says
two thirds as much. `noise`: nothing may be selected. `linear`: PIPs against the exact posterior of
the linear spike-and-slab model given the strong part, mean absolute error of at most 0.05. `prior` and `unforeseen`:
calibration, error of at most 0.05 where sets and effects come from the prior of the model, half of the effects linear,
and 0.10 where a quarter of the inputs has 2 to 6 standard errors. `step`: where exact fits end, inputs found and false
may differ by no more than two seeds of the exact fit do.

    python -m benchmarks.power            all of them; hours
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from functools import partial

import numpy as np
from scipy.special import betaln

from experiments.cases import RESULTS, Case, main
from experiments.problems import seeds
from experiments.scores import ece
from ssvgp import AutoSettings, Prior, SSVGPRegressor
from ssvgp.model.priors import log_slab

EFFECTS = {1: 0.02, 2: 0.03, 3: 0.05, 4: 0.08, 5: 0.12}
PRODUCT = 0.05
ROWS = (20_000, 100_000, 1_000_000)
IDLE = [6, *range(9, 30)]
SPECTRUM = 500  # random waves that stand for a draw of a process


def fitted(
    X: np.ndarray, y: np.ndarray, seed: int = 0, limit: int = 2000, searched: int | None = None
) -> tuple[SSVGPRegressor, dict[str, float]]:
    """The default on two threads, with its seconds by the clock and of the processor.

    All rows are searched up to `searched` of them, None: half of the limit.
    """
    start, cpu = time.perf_counter(), time.process_time()
    settings = AutoSettings(exact_rows=searched)
    model = SSVGPRegressor(random_state=seed, n_jobs=2, exact_limit=limit, settings=settings).fit(X, y)
    return model, {"seconds": time.perf_counter() - start, "cpu": time.process_time() - cpu}


# --- power, and nothing to find -----------------------------------------------------------------------------------


def table(seed: int, n: int, freedom: float | None = None) -> tuple[np.ndarray, np.ndarray]:
    """One draw of the table above, with Student-t noise where degrees of freedom are given."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 30))
    y = np.sin(1.2 * X[:, 0]) + PRODUCT * X[:, 7] * X[:, 8]
    y += rng.standard_normal(n) if freedom is None else rng.standard_t(freedom, n)
    for j, b in EFFECTS.items():
        y += b * X[:, j]
    return X, y


def weak(seed: int, n: int, freedom: float | None = None) -> Mapping[str, float]:
    """PIPs of all effects, the largest of an idle input, and the error of predictions of f."""
    X, y = table(seed, n, freedom)
    model, spent = fitted(X, y)
    pip = model.pip_
    found = {f"pip_{b}": float(pip[j]) for j, b in EFFECTS.items()}
    found |= {"pip_product": float(min(pip[7], pip[8])), "idle": float(pip[IDLE].max())}
    found["selected_idle"] = float((pip[IDLE] > 0.5).sum())
    X_new = np.random.default_rng(seed + 1).standard_normal((2000, 30))
    f = np.sin(1.2 * X_new[:, 0]) + PRODUCT * X_new[:, 7] * X_new[:, 8]
    f += sum(b * X_new[:, j] for j, b in EFFECTS.items())
    found["mse"] = float(np.mean((model.predict(X_new) - f) ** 2))
    return found | {"n": float(n)} | spent


def noise(seed: int, n: int, d: int) -> Mapping[str, float]:
    """How many inputs are selected where there is nothing to find, and the largest PIP."""
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((n, d)), rng.standard_normal(n)
    model, spent = fitted(X, y)
    pip = model.pip_
    return {"n": float(n), "d": float(d), "selected": float((pip > 0.5).sum()), "largest": float(pip.max())} | spent


# --- the exact posterior of linear effects --------------------------------------------------------------------------


def linear(seed: int, n: int, d: int = 20) -> Mapping[str, float]:
    """PIPs of linear effects of 0 to 8 standard errors beside sin(1.2 x0), against their exact posterior."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    b = rng.permutation(np.linspace(0.0, 8.0, d - 1)) * rng.choice([-1.0, 1.0], d - 1) / np.sqrt(n)
    rest = X[:, 1:] @ b + rng.standard_normal(n)
    model, spent = fitted(X, np.sin(1.2 * X[:, 0]) + rest)
    exact = exact_pips(model, X[:, 1:], rest, rng)
    gap = np.abs(model.pip_[1:] - exact)
    return {"error": float(gap.mean()), "largest_gap": float(gap.max()), "strong": float(model.pip_[0])} | spent


def exact_pips(model: SSVGPRegressor, X: np.ndarray, rest: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """PIPs (e,) of linear effects in y less its strong part, one strong input being in the set: a long Gibbs chain.

    Coefficients are normal with the variances tau theta^2 of the model: tau and the theta of the strong input are those
    of its leading member, the other theta are half-normal of the common scale.
    """
    lead = model.ensemble_.members[int(np.argmax(model.weights_))]
    prior, unit = Prior().for_data(len(X), X.shape[1] + 1), model.fitted_.target.spread**2
    slabs, shares = np.asarray(prior.slabs), log_slab(lead.parameters.theta, prior)[2]
    grid = np.geomspace(1e-3, 8.0, 200)
    cells = np.exp(-0.5 * (grid / slabs[:, None]) ** 2) / slabs[:, None] * grid  # equal steps of log theta
    cells /= cells.sum(axis=1, keepdims=True)
    rho = unit * lead.parameters.scale * grid**2
    e = X.shape[1]
    C, g = X.T @ X, X.T @ rest
    sizes = np.arange(e + 2)
    log_sizes = betaln(prior.a + sizes, prior.b + e + 1 - sizes)
    b, at, scale, total = np.zeros(e), np.full(e, -1), int(np.argmax(shares)), np.zeros(e)
    for sweep in range(3000):
        variance = float(rest @ rest - 2.0 * b @ g + b @ C @ b) / rng.chisquare(len(X))
        for j in range(e):
            at[j], b[j] = -1, 0.0
            k, cost, gain = 1 + int((at >= 0).sum()), C[j, j] / variance, (g[j] - C[j] @ b) / variance
            each = 0.5 * rho * gain**2 / (1.0 + rho * cost) - 0.5 * np.log1p(rho * cost) + np.log(cells[scale] + 1e-300)
            odds = np.logaddexp.reduce(each) + log_sizes[k + 1] - log_sizes[k]
            chance = 1.0 / (1.0 + np.exp(-np.clip(odds, -700.0, 700.0)))
            total[j] += chance if sweep >= 300 else 0.0
            if rng.uniform() < chance:
                at[j] = int(np.argmax(each + rng.gumbel(size=grid.size)))
                own = 1.0 / (cost + 1.0 / rho[at[j]])
                b[j] = own * gain + np.sqrt(own) * rng.standard_normal()
        log_scale = np.log(shares + 1e-300) + np.log(cells[:, at[at >= 0]] + 1e-300).sum(axis=1)
        scale = int(np.argmax(log_scale + rng.gumbel(size=slabs.size)))
    return np.asarray(total / 2700)


# --- calibration ----------------------------------------------------------------------------------------------------


def from_prior(rng: np.random.Generator, X: np.ndarray, prior: Prior) -> tuple[np.ndarray, np.ndarray]:
    """y and the relevant inputs (d,): sets, scales and noise from the prior, half of the effects linear."""
    n, d = X.shape
    assert prior.b is not None
    relevant = np.asarray(rng.uniform(size=d) < rng.beta(prior.a, prior.b))
    active = rng.permutation(np.flatnonzero(relevant))
    theta = np.abs(rng.normal(size=active.size)) * rng.choice(prior.slabs)
    scale, spread = np.exp(rng.normal(*prior.log_scale)), np.exp(rng.normal(*prior.log_noise))
    straight, bent = np.split(np.arange(active.size), [active.size // 2 + int(rng.integers(2)) * (active.size % 2)])
    y = np.sqrt(spread) * rng.normal(size=n)
    y += np.sqrt(scale) * (X[:, active[straight]] @ (theta[straight] * rng.normal(size=straight.size)))
    if bent.size:
        waves = theta[bent, None] * rng.normal(size=(bent.size, SPECTRUM))
        phase, height = rng.uniform(0.0, 2.0 * np.pi, SPECTRUM), rng.normal(size=SPECTRUM)
        y += np.sqrt(2.0 * scale / SPECTRUM) * (np.cos(X[:, active[bent]] @ waves + phase) @ height)
    return y, relevant


def calibration(seed: int, n: int, foreseen: bool, d: int = 40) -> Mapping[str, float]:
    """The PIPs and the truth of one draw, as pip0, true0, pip1, ..."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    if foreseen:
        y, relevant = from_prior(rng, X, Prior().for_data(n, d))
    else:
        relevant = rng.permutation(np.arange(d) < d // 4)
        b = np.where(relevant, rng.uniform(2.0, 6.0, d) * rng.choice([-1.0, 1.0], d) / np.sqrt(n), 0.0)
        y = X @ b + rng.standard_normal(n)
    model, spent = fitted(X, y)
    pairs = zip(model.pip_, relevant, strict=True)
    each = {f"{name}{j}": float(v) for j, two in enumerate(pairs) for name, v in zip(("pip", "true"), two, strict=True)}
    return each | spent


def report(name: str) -> None:
    """The calibration error of all stored draws, with the table behind it."""
    rows = [json.loads(line) for line in (RESULTS / f"{name}.jsonl").read_text().splitlines()]
    rows = [row for row in rows if "pip0" in row]
    pips, truths = (np.array([v for row in rows for v in _numbered(row, key)]) for key in ("pip", "true"))
    print(f"{name}: expected calibration error {ece(pips, truths):.4f} over {len(rows)} draws, {pips.size} inputs")
    for low in np.arange(10) / 10:
        part = (pips >= low) & ((pips < low + 0.1) | (low == 0.9))
        if part.any():
            said, true = pips[part].mean(), truths[part].mean()
            print(f"  PIP {low:.1f}-{low + 0.1:.1f}: {part.sum():5d} inputs, said {said:.3f}, true {true:.3f}")


def _numbered(row: Mapping[str, float], name: str) -> Iterator[float]:
    return (row[f"{name}{j}"] for j in range(len(row)) if f"{name}{j}" in row)


# --- where blocks begin ---------------------------------------------------------------------------------------------


def step(seed: int, n: int, limit: int, d: int = 12) -> Mapping[str, float]:
    """Inputs found and false of exact fits to n rows by two seeds, and of the fit to one row more at usual limits.

    And of the same n rows where blocks are searched first: one row more may move a PIP by itself. Two strong effects, a
    product of two inputs and three weak effects of 3 to 7 standard errors; `limit` is the `exact_limit` at which n rows
    are fitted exactly.
    """
    rng = np.random.default_rng(seed)
    X, pick = rng.standard_normal((n + 1, d)), rng.permutation(d)[:7]
    x = X[:, pick].T
    f = np.sin(1.3 * x[0]) + 0.6 * x[1] * x[2] + 0.4 * (x[3] ** 2 - 1.0)
    y = f + rng.uniform(3.0, 7.0, 3) / np.sqrt(n) @ x[4:] + rng.standard_normal(n + 1)
    fits = [fitted(X[:n], y[:n], 0, limit), fitted(X[:n], y[:n], 1, limit), fitted(X, y)]
    fits.append(fitted(X[:n], y[:n], 0, limit, n - 1))
    out: dict[str, float] = {}
    true = np.isin(np.arange(d), pick)
    for name, (model, spent) in zip(("exact", "again", "beyond", "same"), fits, strict=True):
        out |= {f"found_{name}": float((model.pip_[true] > 0.5).sum()), f"cpu_{name}": spent["cpu"]}
        out |= {
            f"false_{name}": float((model.pip_[~true] > 0.5).sum()),
            f"idle_{name}": float(model.pip_[~true].mean()),
        }
    for name, (model, _) in zip(("seeds", "step", "same"), fits[1:], strict=True):
        out[f"pip_gap_{name}"] = float(np.abs(model.pip_ - fits[0][0].pip_).mean())
    return out


if __name__ == "__main__":
    main(
        *(Case(f"power_weak_{n}", partial(weak, n=n), seeds(5), partial(weak, n=3000)) for n in ROWS),
        Case("power_tails_20000", partial(weak, n=20_000, freedom=3.0), seeds(5), partial(weak, n=3000, freedom=3.0)),
        *(
            Case(f"power_noise_{n}_{d}", partial(noise, n=n, d=d), seeds(10), partial(noise, n=1500, d=20))
            for n, d in ((20_000, 100), (10**6, 100), (10_000, 10_000))
        ),
        Case("power_linear", partial(linear, n=20_000), seeds(20), partial(linear, n=3000)),
        *(
            Case(
                f"power_{kind}_{n}",
                partial(calibration, n=n, foreseen=kind == "prior"),
                seeds(50),
                partial(calibration, n=1500, foreseen=kind == "prior"),
            )
            for kind in ("prior", "unforeseen")
            for n in (3000, 50_000)
        ),
        Case("power_step_1000", partial(step, n=1000, limit=2000), seeds(20), partial(step, n=200, limit=400)),
        Case("power_step_2000", partial(step, n=2000, limit=4000), seeds(20), partial(step, n=200, limit=400)),
    )
    for path in sorted(RESULTS.glob("power_*.jsonl")):
        if path.stem.startswith(("power_prior", "power_unforeseen")):
            report(path.stem)
