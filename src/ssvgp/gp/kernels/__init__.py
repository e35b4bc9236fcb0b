"""Kernels: families by name, their sums and products, and those written by the user."""
