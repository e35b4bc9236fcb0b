"""Many targets on one table: what does not depend on y is worked out once, the rest runs where joblib is told to."""
