"""Lab 1, *A KV cache from nothing*."""
