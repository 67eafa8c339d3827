"""Lab 3, *Your own block allocator*."""
