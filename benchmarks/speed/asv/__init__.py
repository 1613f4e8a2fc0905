"""Benchmarks for airspeed velocity: ``make asv`` compares two commits."""
