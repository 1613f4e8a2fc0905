"""Pages that work offline: report of a fit, explorer of a line search, labeling."""
