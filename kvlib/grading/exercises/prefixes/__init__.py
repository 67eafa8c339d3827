"""Lab 6, *Prefix caching*."""
