"""A stand-in for the report, so that commands are tested without what it draws."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from ssvgp import SSVGPRegressor


@pytest.fixture
def report_stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """Writes the selected names in place of a report."""

    def write_report(model: SSVGPRegressor, path: Path, target: str, notes: Sequence[str]) -> None:
        Path(path).write_text(" ".join(model.get_feature_names_out()))

    monkeypatch.setattr("ssvgp.report.report.write_report", write_report)
