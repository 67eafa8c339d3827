"""A learner's kernel, watched while it runs on hard problems, and what is wrong with it in words."""
