"""The table of the demo is what its function makes."""

from __future__ import annotations

import numpy as np

from ssvgp.cli import demo


def test_the_bundled_table_is_the_one_that_the_function_makes() -> None:
    made, bundled = demo.make_table(), demo.read_table()
    assert bundled.names == made.names and bundled.X.shape == (120, 60)
    assert np.array_equal(bundled.X, made.X) and np.array_equal(bundled.y, made.y)
