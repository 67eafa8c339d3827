"""Runners of measurements and of the comparison with the paper."""
