"""Files of tables: CSV as other programs write it, Parquet, Feather and Excel."""
