"""The command `ssvgp`: from a table in a file to a model, predictions and a report, without writing Python."""
