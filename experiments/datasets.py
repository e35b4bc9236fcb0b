"""Real sets by name, from the folder that SSVGP_DATA names, each with the one treatment it needs.

| set | treatment |
|---|---|
| ujiindoorloc | 100 ("not heard") becomes -105, just below the weakest signal; longitude; both files together |
| blog_feedback | log(1 + y), and sign(x) log(1 + abs(x)) of the inputs, which are counts with heavy tails |
| liver_toxicity, permeability | log y, which spans three powers of ten (the second since a first look at scores) |
| communities_crime | the 99 columns without missing values |
| ct_slices | a user's own copy of UCI 206: SSVGP_CT_SLICES names the file (CSV as published, or .npz with X and y) |
| others | as they are |
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

NOT_HEARD, SILENT = 100.0, -105.0
LOGGED = ("liver_toxicity", "permeability")
CT_SLICES = "ct_slices"
CT_VARIABLE = "SSVGP_CT_SLICES"
CT_COLUMNS = 384  # without patientId in front and reference (the target) at the end


class MissingData(FileNotFoundError):
    """A data set is not there; the message says how to name its place."""


def folder() -> Path:
    """Where the sets are: SSVGP_DATA, or else shared/data beside the repository."""
    return Path(os.environ.get("SSVGP_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))


def missing(name: str) -> str | None:
    """Why a set cannot be loaded, or None if it can."""
    if name == CT_SLICES:
        named = os.environ.get(CT_VARIABLE)
        if not named:
            return f"CT slices (UCI 206) are not distributed here: set {CT_VARIABLE} to your own copy"
        return None if Path(named).is_file() else f"{CT_VARIABLE} names {named}, which is no file"
    path = folder() / f"{name}.npz"
    return None if path.is_file() else f"no file {path.name} in the data folder: set SSVGP_DATA to where it is"


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """X (n, d) and y (n,) of a set, treated as the table above says."""
    reason = missing(name)
    if reason:
        raise MissingData(reason)
    if name == CT_SLICES:
        return ct_slices(Path(os.environ[CT_VARIABLE]))
    stored = np.load(folder() / f"{name}.npz", allow_pickle=False)
    X, y = stored["X"], stored["y"].astype(float)
    if name == "ujiindoorloc":
        return np.where(X == NOT_HEARD, SILENT, X).astype(X.dtype), y
    if name == "blog_feedback":
        return np.sign(X) * np.log1p(np.abs(X)), np.log1p(y)
    if name in LOGGED:
        return X, np.log(y)
    return X[:, ~np.isnan(X).any(axis=0)], y


def names(name: str) -> np.ndarray:
    """Names (d,) of the inputs of a set that has no missing values."""
    return np.load(folder() / f"{name}.npz", allow_pickle=False)["feature_names"]


def ct_slices(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """X (53500, 384) and y, the position of a slice, from the published CSV or an .npz with X and y.

    The patient's number is left out: it is an identifier, and says where a scan begins.
    """
    if path.suffix == ".npz":
        stored = np.load(path, allow_pickle=False)
        if not {"X", "y"} <= set(stored.files):
            raise ValueError(f"{path.name} holds {sorted(stored.files)}; it must hold X and y")
        return stored["X"], stored["y"].astype(float)
    table = np.loadtxt(path, delimiter=",", skiprows=1)
    if table.ndim != 2 or table.shape[1] != CT_COLUMNS + 2:
        found = table.shape[-1] if table.ndim else 0
        raise ValueError(
            f"{path.name} has {found} columns; UCI 206 has {CT_COLUMNS + 2}: patientId, {CT_COLUMNS} values, reference"
        )
    return table[:, 1:-1], table[:, -1]
