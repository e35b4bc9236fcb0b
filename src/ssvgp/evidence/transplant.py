"""A fit of one set as the start of another's: what the two have in common is carried over."""

from __future__ import annotations

import numpy as np

from ssvgp.evidence.ascent import apart, unknown
from ssvgp.evidence.laplace import Fit, Problem
from ssvgp.model.priors import Candidate

NEW_THETA = np.array([0.05, 0.2, 0.6])  # where a new input is first tried: weak, middling, strong


def transplant(parent: Fit, candidate: Candidate, problem: Problem) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The parent's mode and curvature carried to another set: z (q,), inverse Hessian (q, q), places of new inputs."""
    old, z_old, b_old = parent.candidate, parent.summit.z, parent.summit.inverse_hessian
    names_new = candidate.coordinates.labels(candidate.labels)
    where = {name: i for i, name in enumerate(old.coordinates.labels(old.labels))}
    defaults = {name: problem.prior.of_slot(name)[0] for name in candidate.coordinates.slots}
    z = np.array([z_old[where[x]] if x in where else defaults.get(str(x), np.log(NEW_THETA[1])) for x in names_new])
    b = unknown(z.size)
    kept_new = [i for i, name in enumerate(names_new) if name in where]
    kept_old = [where[names_new[i]] for i in kept_new]
    b[np.ix_(kept_new, kept_new)] = b_old[np.ix_(kept_old, kept_old)]
    added = np.array([i for i, label in enumerate(candidate.labels) if label not in where], dtype=np.intp)
    return z, b, added


def moved(found: Fit, below: Fit, above: Fit) -> np.ndarray:
    """z (q,) of a fit to a part of the rows where all rows may have it: moved as a relative's mode was by all rows.

    `below` and `above` are the relative's fits to the part and to all rows. Where these are not of one mode nothing is
    known of that.
    """
    z = found.summit.z.copy()
    if apart(below.summit.z, above.summit.z):
        return z
    old, own = below.candidate, found.candidate
    steps = dict(zip(old.coordinates.labels(old.labels), above.summit.z - below.summit.z, strict=True))
    return z + [steps.get(label, 0.0) for label in own.coordinates.labels(own.labels)]
