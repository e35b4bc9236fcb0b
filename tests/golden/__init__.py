"""Golden numbers: what whole fits gave, for code that moves and must not change a digit."""
