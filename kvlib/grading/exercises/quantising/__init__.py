"""Lab 10, *Quantised caches*."""
