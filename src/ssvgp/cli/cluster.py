"""Commands on a cluster: what runs side by side is sent to the workers of a Dask scheduler."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import joblib

from ssvgp.tables.columns import MissingLibrary, TableError

WAIT = 30  # seconds for a scheduler to answer


@contextmanager
def on_cluster(scheduler: str | None) -> Iterator[None]:
    """Tasks go to the workers of the scheduler at this address, or stay here where there is none."""
    if scheduler is None:
        yield
        return
    try:
        from distributed import Client
    except ImportError:
        raise MissingLibrary("--scheduler needs Dask: pip install 'ssvgp[dask]'") from None
    try:
        client = Client(scheduler, timeout=WAIT)
    except (OSError, ValueError) as error:
        raise TableError(f"no scheduler at '{scheduler}': {str(error).splitlines()[0]}") from None
    with client, joblib.parallel_config(backend="dask", n_jobs=-1):
        yield
