"""A worker process of joblib's own that is killed from a test."""

from __future__ import annotations

import os
import signal

import pytest


def kill_a_worker() -> None:
    """End one of the worker processes of this one, without a word."""
    psutil = pytest.importorskip("psutil")
    workers = [one for one in psutil.Process().children() if "LokyProcess" in " ".join(one.cmdline())]
    os.kill(workers[0].pid, signal.SIGKILL)
