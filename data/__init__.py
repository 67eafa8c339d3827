"""The book's data files, and the three prompts that its chapters follow.

Read `models.json` through `kvlib.sizing` and `paper.json` through `kvlib.ledger`.
"""

PROMPTS = ["Once upon a time", "A cache is", "The sun is"]
