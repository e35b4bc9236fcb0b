"""The demo: its table is what its function makes, and it finds what was put in."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ssvgp import demo


def test_the_bundled_table_is_the_one_that_the_function_makes() -> None:
    made, bundled = demo.make_table(), demo.read_table()
    assert bundled.names == made.names and bundled.X.shape == (120, 60)
    assert np.array_equal(bundled.X, made.X) and np.array_equal(bundled.y, made.y)


def test_the_demo_selects_the_decisive_inputs_and_says_where_it_wrote(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    demo.main()
    said = capsys.readouterr().out
    selected = {line.split()[0] for line in said.splitlines() if line.endswith("selected")}
    assert selected == set(demo.DECISIVE)
    assert str(tmp_path / demo.OUTPUT) in said
    assert len((tmp_path / demo.OUTPUT).read_text().splitlines()) == 61
