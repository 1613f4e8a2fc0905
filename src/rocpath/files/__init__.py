"""Read tables from files: CSV from other programs, Parquet, Feather and Excel."""
