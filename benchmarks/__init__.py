"""Measurements, one question per file, run as `python -m benchmarks.NAME` from the root of the repository."""
