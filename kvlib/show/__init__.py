"""Pictures for the page, the notebook and the slide. Needs matplotlib."""
