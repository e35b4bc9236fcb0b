"""Ways to look at a fitted model; nothing here is imported before it is asked for."""
