"""Settings shared by all tests: one BLAS thread, the optional libraries, the optional real data."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import scipy.linalg  # noqa: F401  threadpoolctl limits only what is loaded, and SciPy brings a BLAS of its own
import sklearn.utils  # noqa: F401  likewise for its OpenMP
from threadpoolctl import threadpool_limits

ROOT = Path(__file__).resolve().parents[1]
CHROMIUM_FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip


@pytest.fixture(scope="session", autouse=True)
def one_blas_thread() -> Iterator[None]:
    """Small matrices on several contended threads are slow; a test that needs two sets its own limit."""
    with threadpool_limits(limits=1):
        yield


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the tests marked autodiff where neither JAX nor PyTorch is installed."""
    if any(importlib.util.find_spec(name) for name in ("jax", "torch")):
        return
    skip = pytest.mark.skip(reason="needs JAX or PyTorch: pip install '.[jax]' or '.[torch]'")
    for item in items:
        if item.get_closest_marker("autodiff"):
            item.add_marker(skip)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Headless Chromium with a profile of its own, driven by playwright."""
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install 'ssvgp[browser]'")
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("needs Chromium, such as Debian's package chromium, or CHROMIUM with the path of one")
    with playwright.sync_playwright() as library:
        folder = tmp_path_factory.mktemp("profile")
        context = library.chromium.launch_persistent_context(
            str(folder), executable_path=chromium, headless=True, args=list(CHROMIUM_FLAGS)
        )
        yield context
        context.close()


@pytest.fixture(scope="session")
def data_directory() -> Path:
    """The folder of real data sets: SSVGP_DATA, or else ../shared/data beside the repository."""
    named = os.environ.get("SSVGP_DATA")
    folder = Path(named) if named else ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"needs the real data sets, and {folder} is no folder: set SSVGP_DATA to where they are")
    return folder
