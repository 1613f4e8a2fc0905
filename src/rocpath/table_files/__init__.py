"""Read tables from files: CSV of other programs, Parquet, Feather and Excel."""
