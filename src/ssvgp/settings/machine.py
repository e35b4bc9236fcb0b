"""Sizes of the machine, in numbers of eight bytes: work on tables is cut by these four, whatever it does."""

from __future__ import annotations

STRIP = 128  # rows or columns that are worked on together: fewer are not worth a call or a thread of their own
CACHED = 2**18  # that stay in the cache of a processor: worked on together, they cost a fraction
LARGE = 2**22  # of a table that are read together: a larger one is read in pieces, and standardised on the fly
HELD = 2**24  # that are held at a time beside the table itself: a covariance matrix of 4096 rows is as large
