"""Read sequences and labels from tables written by other programs."""
