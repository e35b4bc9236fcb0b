"""The first round of a-CAVI alone: it fits all inputs at once, and ranks them."""

from __future__ import annotations

import numpy as np

from ssvgp.gp.kernels.families import Kernel
from ssvgp.method.paper import acavi
from ssvgp.method.paper.pointmass import PointMass
from ssvgp.method.paper.scale_noise import scale_noise_of
from ssvgp.method.paper.spike_slab import SpikeSlab
from ssvgp.records import Train
from ssvgp.settings import PaperSettings


def dense_ranking(
    train: Train, kernel: Kernel, settings: PaperSettings, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """All inputs by falling |theta| after one dense round of a-CAVI, and |theta| (d,) in the order of the inputs."""
    family = PointMass(scale_noise_of(settings))
    prior = SpikeSlab(float(np.median(settings.v)), settings.c, settings.a, settings.b)
    walk = acavi.begin(family, train.d)
    walk = acavi.advance(walk, train, kernel, family, prior, settings, settings.first_steps, rng)
    theta = np.abs(family.centre(walk.unknowns))
    return np.argsort(-theta, kind="stable"), theta
