"""Trials in processes of their own, on one thread each, with a limit of time; and the machine that they run on: its
processor, the versions of its libraries, the memory that a process took."""

from __future__ import annotations

import json
import os
import platform
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
LIBRARIES = ("numpy", "scipy", "scikit-learn", "ssvgp")
ONE_THREAD = {
    name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
} | {"XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"}


class Workers:
    """Starts processes for trials, several at a time if called from several threads, and can stop them all."""

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self.stopped = False
        self._running: set[subprocess.Popen[str]] = set()
        self._lock = threading.Lock()

    def result(self, job: Mapping[str, Any]) -> dict[str, Any] | None:
        """The result of a job, or its error where the process ends badly or takes too long; None once stopped."""
        start = time.perf_counter()
        process = self._started()
        if process is None:
            return None
        try:
            out, err = process.communicate(json.dumps(job), timeout=self.limit)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return {"error": f"stopped at the time limit of {self.limit:g} s"}
        finally:
            with self._lock:
                self._running.discard(process)
        if self.stopped:
            return None
        if process.returncode:
            told_last = (err.strip().splitlines() or ["nothing"])[-1]
            return {"error": f"the process ended with {process.returncode}: {told_last[:300]}"}
        return json.loads(out.splitlines()[-1]) | {"process_seconds": round(time.perf_counter() - start, 3)}

    def stop(self) -> None:
        """End all processes and let no other begin."""
        with self._lock:
            self.stopped = True
            for process in self._running:
                process.kill()

    def _started(self) -> subprocess.Popen[str] | None:
        paths = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH", "")])])
        pipe = subprocess.PIPE
        with self._lock:
            if self.stopped:
                return None
            process = subprocess.Popen(
                [sys.executable, "-m", "experiments.trial"],
                stdin=pipe,
                stdout=pipe,
                stderr=pipe,
                text=True,
                env={**os.environ, **ONE_THREAD, "PYTHONPATH": paths},
                # An interrupt from the keyboard is for the runner, which then stops its processes itself.
                start_new_session=True,
            )
            self._running.add(process)
            return process


def machine() -> dict[str, Any]:
    """The processor and its cores; no name of a host."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        rows = [row for row in cpuinfo.read_text().splitlines() if row.startswith("model name")]
        model = rows[0].partition(":")[2].strip() if rows else model
    return {"cpu": model, "cores": os.cpu_count()}


def versions(others: Sequence[str] = ()) -> dict[str, str]:
    """Versions of what the numbers depend on, those of `others` among them."""
    found = {"python": platform.python_version()}
    for library in (*LIBRARIES, *others):
        try:
            found[library] = metadata.version(library)
        except metadata.PackageNotFoundError:
            module = sys.modules.get(library)
            found[library] = str(getattr(module, "__version__", "unknown"))
    return found


def peak_bytes() -> float:
    """Peak resident memory of this process; what it was in the process before `exec` does not count."""
    status = Path("/proc/self/status")
    if status.exists():
        for row in status.read_text().splitlines():
            if row.startswith("VmHWM:"):
                return 1024.0 * float(row.split()[1])
    return 1024.0 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
