"""Confidence intervals and tests for the AUC, and thresholds with guaranteed error rates."""
