"""Self-contained HTML pages: reports, a line search explorer, and a labeling page."""
