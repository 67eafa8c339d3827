"""Lab 7, *The scheduler*."""
