"""A stand-in for the report, so that commands are tested without what it draws."""

from __future__ import annotations

import sys
import types
from pathlib import Path

import pytest

from ssvgp import SSVGPRegressor


@pytest.fixture
def report_stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """Writes the selected names in place of a report."""

    def write_report(model: SSVGPRegressor, path: Path) -> None:
        Path(path).write_text(" ".join(model.get_feature_names_out()))

    module = types.ModuleType("ssvgp.show.report")
    module.write_report = write_report  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "ssvgp.show.report", module)
