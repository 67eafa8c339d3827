"""How a value that was given stands in a message."""

LONGEST = 80


def shown(value: object) -> str:
    """`value` as Python writes it, at most LONGEST characters."""
    try:
        text = repr(value)
    except ValueError:  # Python writes no int of more than 4300 digits in decimal
        return f"one {type(value).__name__} too long to write out"
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."
