"""What `import ssvgp` costs: no optional library, and little beyond scikit-learn itself."""

from __future__ import annotations

import functools
import re
import subprocess
import sys
import tomllib
from pathlib import Path

OPTIONAL = ("pandas", "polars", "pyarrow", "jax", "torch", "matplotlib", "arviz", "xarray", "click", "numba", "IPython")
OPTIONAL += ("dask", "distributed", "ray")
ONES_OWN = ("ssvgp.report", "ssvgp.cli", "ssvgp.tables", "ssvgp.plots")
ONES_OWN += ("ssvgp.many.run", "ssvgp.many.fitting", "ssvgp.disk.survey", "ssvgp.disk.lazy", "ssvgp.disk.folder")
SCIKIT_LEARN = "import sklearn.base, sklearn.feature_selection, sklearn.utils.validation"

# CPU time of one process: first what scikit-learn needs to define an estimator, then what ssvgp adds
TIMED = f"""
import time
start = time.process_time()
{SCIKIT_LEARN}
middle = time.process_time()
import ssvgp
print((time.process_time() - middle) / (middle - start))
"""


def output_of(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


@functools.cache
def loaded(code: str) -> frozenset[str]:
    return frozenset(output_of(f"{code}\nimport sys\nprint(*sys.modules)").split())


def test_nothing_optional_is_imported() -> None:
    # what scikit-learn itself brings along where it is installed is not ours to avoid
    ours = loaded("import ssvgp") - loaded(SCIKIT_LEARN)
    assert {name.split(".")[0] for name in ours} & set(OPTIONAL) == set()
    assert [name for name in ours if name.startswith(ONES_OWN)] == []


def test_a_model_without_extras_imports_nothing_optional() -> None:
    code = """
import numpy as np, sys, ssvgp
X = np.random.default_rng(0).normal(size=(20, 3))
model = ssvgp.SSVGPRegressor(kernel="se", random_state=0).fit(X, X[:, 0])
model.predict(X), model.effect(0), model._repr_html_()
"""
    assert {name.split(".")[0] for name in loaded(code) - loaded(SCIKIT_LEARN)} & set(OPTIONAL) == set()


def test_many_targets_in_processes_do_without_dask() -> None:
    code = """
import numpy as np, ssvgp
X = np.random.default_rng(0).normal(size=(20, 3))
model = ssvgp.SSVGPRegressor(kernel="se", random_state=0).fit(X, X[:, :2])
model.predict(X)
"""
    assert {name.split(".")[0] for name in loaded(code)} & {"dask", "distributed"} == set()


def test_the_engine_fits_where_no_optional_library_can_be_loaded() -> None:
    code = """
import sys
class Missing:  # None in sys.modules would do, but scikit-learn 1.6 looks there and takes it for pandas
    def find_spec(self, name, path=None, target=None):
        if name in ("pandas", "matplotlib", "click"):
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Missing())
import numpy as np, ssvgp
X = np.random.default_rng(0).normal(size=(20, 3))
model = ssvgp.SSVGPRegressor(kernel="se", random_state=0).fit(X, X[:, 0])
print(model.predict(X).shape, model.check().r2 > 0.5, model.effect(0).mean.size)
"""
    assert output_of(code).split() == ["(20,)", "True", "30"]


def test_the_import_is_a_small_part_of_that_of_scikit_learn() -> None:
    assert float(output_of(TIMED)) < 0.3


def test_one_version_in_all_places() -> None:
    root = Path(__file__).resolve().parents[1]
    stated = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    cited = re.search(r"^version: (\S+)$", (root / "CITATION.cff").read_text(encoding="utf-8"), re.M)
    written = re.search(r"^## \[(\d\S*)\]", (root / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)
    assert cited is not None and written is not None and cited[1] == written[1] == stated
