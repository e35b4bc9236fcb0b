"""Golden numbers in a file: written once for a state of the code, read by the test.

python -m tests.golden.record [NAME ...]        keep what the code gives now, of all cases or those named
"""

from __future__ import annotations

import json
import platform
import sys
from pathlib import Path
from typing import Any

import numpy as np
import scipy
from threadpoolctl import threadpool_info

from tests.golden.cases import CASES

FILE = Path(__file__).parent / "numbers.json"


def machine() -> dict[str, str]:
    """What the last bits of a number depend on: the libraries, and the kind of processor that BLAS sees."""
    blas = sorted({str(one.get("architecture", "")) for one in threadpool_info() if one["user_api"] == "blas"})
    versions = {"numpy": np.__version__, "scipy": scipy.__version__, "python": platform.python_version()}
    return versions | {"blas": ", ".join(blas), "machine": platform.machine()}


def packed(numbers: dict[str, np.ndarray]) -> dict[str, list[str]]:
    """Numbers as texts that lose no bit."""
    return {name: [float(value).hex() for value in values] for name, values in numbers.items()}


def unpacked(texts: dict[str, list[str]]) -> dict[str, np.ndarray]:
    return {name: np.array([float.fromhex(text) for text in values]) for name, values in texts.items()}


def stored() -> dict[str, Any]:
    """The file: cases by name, each with its numbers and the machine that they come from."""
    return json.loads(FILE.read_text()) if FILE.exists() else {}


def main(names: list[str]) -> None:
    found = stored()
    for name, case in CASES.items():
        if names and name not in names:
            continue
        reason = case.missing()
        if reason:
            print(f"{name}: left out, {reason}")
            continue
        found[name] = {"machine": machine(), "numbers": packed(case.numbers())}
        FILE.write_text(json.dumps({key: found[key] for key in CASES if key in found}, indent=0) + "\n")
        print(name, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
