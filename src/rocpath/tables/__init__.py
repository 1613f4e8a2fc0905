"""Models of raw tables with numbers, categories, dates and missing values."""
