"""Where candidate sets of inputs come from."""
