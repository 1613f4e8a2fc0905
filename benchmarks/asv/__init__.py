"""Benchmarks of airspeed velocity: ``make asv`` compares two commits."""
