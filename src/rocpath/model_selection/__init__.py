"""Model selection: folds, comparisons of models, and calibration of scores."""
