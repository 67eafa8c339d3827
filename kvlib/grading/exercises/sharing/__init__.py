"""Lab 5, *Fork and copy-on-write, beam search*."""
