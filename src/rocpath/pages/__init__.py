"""Pages that work offline: the report of a fit and the explorer of a line search."""
