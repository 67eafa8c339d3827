"""Lab 2, *Size it*."""
