"""Synthetic designs, the paper's printed numbers, and the tables that set ours beside them."""
