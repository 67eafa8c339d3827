"""Lab 0, *Set up and measure your machine*."""
