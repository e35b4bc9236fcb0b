"""Which search is faster, a KD-tree or products of blocks, and does `tree_wins` choose that one?

Rows are normal. "equal" has columns of one range; "decaying" has ranges that fall by 0.7 from each column to the next,
as lengthscales of unequal inputs make them; "line" has equal ranges, but rows near a plane of three directions. Both
searches find the same 256 neighbours, which is checked. Times are CPU seconds on one thread; `loss` is the time of the
search that the rule chooses for 10^4 queries over that of the faster one, building included.

    python -m benchmarks.neighbours             results/neighbours.jsonl, about ten minutes
    python -m benchmarks.neighbours --smoke     small sizes, in seconds
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Mapping

import numpy as np
from scipy.spatial import cKDTree
from threadpoolctl import threadpool_limits

from experiments.cases import RESULTS
from experiments.processes import versions
from experiments.store import append
from ssvgp.gp.neighbours import Products, Tree, effective_dimension, products_over, tree_wins

INPUTS = (1, 2, 3, 5, 8, 10, 15, 20, 50, 200)
ROWS = (10_000, 100_000, 1_000_000)
LARGEST = 60_000_000  # numbers in a table
QUERIES = 10_000  # a prediction of middling size
M = 256
SECONDS = 2.0  # enough to time one search


def table(kind: str, n: int, p: int, rng: np.random.Generator) -> np.ndarray:
    """Rows (n, p) of one of three kinds."""
    if kind == "line":
        rows = rng.standard_normal((n, 3)) @ rng.standard_normal((3, p))
        rows += 0.05 * rng.standard_normal((n, p))
        return rows
    ranges = np.ones(p) if kind == "equal" else 0.7 ** np.arange(p)
    return rng.standard_normal((n, p)) * ranges


def query_seconds(search: Tree | Products, queries: np.ndarray, step: int) -> float:
    """CPU seconds for one query, over as many of the queries as fit into the time set."""
    start, done = time.process_time(), 0
    while done < queries.shape[0] and time.process_time() - start < SECONDS:
        search.nearest(queries[done : done + step], M)
        done += step
    return (time.process_time() - start) / done


def same_distances(rows: np.ndarray, queries: np.ndarray, one: Tree, other: Products) -> bool:
    """Whether both find neighbours at the same distances."""
    left, right = (((rows[found.nearest(queries, M)] - queries[:, None]) ** 2).sum(axis=2) for found in (one, other))
    return bool(np.allclose(left, right, rtol=1e-10, atol=0.0))


def measure(kind: str, n: int, p: int) -> Mapping[str, object]:
    """Both searches over one table."""
    rng = np.random.default_rng(1000)
    both = table(kind, n + 2048, p, rng)
    rows, queries = both[:n], both[n:]
    start = time.process_time()
    tree = Tree(cKDTree(rows, balanced_tree=False))
    middle = time.process_time()
    products = products_over(rows)
    built = time.process_time()
    dimension = effective_dimension(rows)
    seconds = {"tree": query_seconds(tree, queries, 8), "products": query_seconds(products, queries, 256)}
    build = {"tree": middle - start, "products": built - middle}
    total = {name: build[name] + QUERIES * seconds[name] for name in build}
    chosen = "tree" if tree_wins(dimension, p, QUERIES) else "products"
    return {
        "kind": kind,
        "n": n,
        "p": p,
        "dimension": dimension,
        "tree_build_seconds": build["tree"],
        "tree_query_ms": 1e3 * seconds["tree"],
        "products_build_seconds": build["products"],
        "products_query_ms": 1e3 * seconds["products"],
        "chosen": chosen,
        "faster": min(total, key=total.__getitem__),
        "loss": total[chosen] / min(total.values()),
        "same": same_distances(rows, queries[:4], tree, products),
    }


def cases(smoke: bool) -> Iterator[tuple[str, int, int]]:
    for n in (2000,) if smoke else ROWS:
        for p in (2, 20) if smoke else INPUTS:
            if n * p <= LARGEST:
                yield from ((kind, n, p) for kind in ("equal", "decaying", "line") if p > 3 or kind == "equal")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--smoke", action="store_true", help="small sizes, in a file of their own")
    smoke = parser.parse_args().smoke
    path = RESULTS / f"neighbours{'-smoke' if smoke else ''}.jsonl"
    path.write_text(json.dumps({"run": "neighbours", "m": M, "queries": QUERIES} | versions()) + "\n")
    losses = []
    with threadpool_limits(limits=1):
        for case in cases(smoke):
            found = measure(*case)
            append(path, found)
            losses.append(float(str(found["loss"])))
            print("  ".join(f"{k} {v:.4g}" if isinstance(v, float) else f"{k} {v}" for k, v in found.items()))
    append(path, {"summary": {"mean_loss": float(np.mean(losses)), "worst_loss": max(losses)}})
    print(f"loss of the rule: mean {np.mean(losses):.2f}, worst {max(losses):.2f}")


if __name__ == "__main__":
    main()
