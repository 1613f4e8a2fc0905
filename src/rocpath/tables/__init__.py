"""Models of tables as they come: numbers, words, dates and gaps in named columns."""
