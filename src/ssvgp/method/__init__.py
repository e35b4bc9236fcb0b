"""From a table to an ensemble: the default method, and the paper's."""
