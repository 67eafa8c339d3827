"""The book's data files: `models.json`, `paper.json`. Read them through `kvlib.ledger` and `kvlib.sizing`."""
