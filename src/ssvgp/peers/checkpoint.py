"""Training that takes hours: it writes itself down as it goes, resumes, and has its error watched on the way."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ssvgp.peers.budget import check_seconds

EVERY = 120.0  # seconds between two checkpoints: a lost run loses no more than that


def fingerprint(settings: dict[str, Any], X: np.ndarray, y: np.ndarray) -> str:
    """What a checkpoint must agree with to be resumed: the settings that shape the training, and the table."""
    digest = hashlib.sha256(repr(sorted(settings.items())).encode())
    digest.update(repr(X.shape).encode())
    for part in (X[:: max(1, len(X) // 100)], y):
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()


def _now() -> float:
    return time.process_time() / torch.get_num_threads()


class Training:
    """The state of a training run: what is to be saved (`parts`), how far it is, how long it took, its curve.

    `parts` are modules and optimisers with `state_dict`. `watch` gives the test error at the state reached; the time
    that this takes is not counted as training. Seconds are of processor time for each thread: in hours of training the
    machine has other things to do as well. With `path` None nothing is written.
    """

    def __init__(
        self,
        parts: dict[str, Any],
        path: str | Path | None,
        identity: str,
        max_seconds: float | None,
        watch: Callable[[], float] | None = None,
    ) -> None:
        check_seconds(max_seconds)
        self.parts, self.path, self.identity = parts, None if path is None else Path(path), identity
        self.step, self.seconds_before = 0, 0.0
        self.curve: list[tuple[float, float, float]] = []
        self._watch, self._max_seconds, self._saved = watch, max_seconds, time.perf_counter()
        self._begin, self._unseen = _now(), 0.0
        self._resume()

    @property
    def seconds(self) -> float:
        """Of training, earlier runs included, watching and writing left out."""
        return self.seconds_before + _now() - self._begin - self._unseen

    def over(self) -> bool:
        return self._max_seconds is not None and self.seconds >= self._max_seconds

    def done(self, step: int, lap: float | None = None) -> None:
        """Tell that `step` steps are behind us, and if they fill laps (iterations, epochs), how many of those."""
        self.step = step
        begin = _now()
        if lap is not None and self._watch is not None:
            self.curve.append((lap, self.seconds, self._watch()))
        if self.path is not None and time.perf_counter() - self._saved > EVERY:
            self.save()
        self._unseen += _now() - begin

    def save(self) -> None:
        """Write the state: whole or not at all, and durably before the old one goes."""
        if self.path is None:
            return
        state = {name: part.state_dict() for name, part in self.parts.items()}
        head = {"identity": self.identity, "step": self.step, "seconds": self.seconds, "curve": self.curve}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        beside = self.path.with_suffix(".part")
        with beside.open("wb") as stream:
            torch.save({"head": head, "state": state}, stream)
            stream.flush()
            os.fsync(stream.fileno())
        beside.replace(self.path)
        self._saved = time.perf_counter()

    def _resume(self) -> None:
        if self.path is None or not self.path.exists():
            return
        found = torch.load(self.path, weights_only=True)
        if found["head"]["identity"] != self.identity:
            raise ValueError(
                f"{self.path} is the checkpoint of another table or other settings: remove it, or name another file"
            )
        for name, part in self.parts.items():
            part.load_state_dict(found["state"][name])
        self.step, self.seconds_before = found["head"]["step"], found["head"]["seconds"]
        self.curve = [tuple(point) for point in found["head"]["curve"]]
