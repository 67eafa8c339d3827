"""The book's data files, and the three prompts that its chapters follow.

Read `models.json` through `kvlib.sizing`, `paper.json` through `kvlib.ledger`, `text.txt` through
`kvlib.engine.perplexity`. `calibration.txt` is what `kvlib.engine.calibration` runs.
"""

PROMPTS = ["Once upon a time", "A cache is", "The sun is"]
