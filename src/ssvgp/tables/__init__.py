"""Tables from files: text, Parquet and Feather, read in blocks, and their treatment before and after a fit."""
