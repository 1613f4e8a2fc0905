"""Confidence intervals and tests for AUCs, and thresholds with guaranteed error rates."""
