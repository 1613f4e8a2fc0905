"""What asv times for each commit: ``make asv`` compares two of them."""
