"""Confidence intervals and tests for AUCs; thresholds with guaranteed error rates."""
