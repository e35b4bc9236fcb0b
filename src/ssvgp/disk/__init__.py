"""Rows on disk: folders of Parquet files, Dask collections, mapped arrays; looked at once, predicted part by part."""
