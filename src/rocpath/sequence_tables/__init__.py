"""Sequences and labels of tables, as other programs write them."""
