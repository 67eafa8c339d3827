"""How a value that was given stands in a message."""


def shown(value: object) -> str:
    """`value` as Python writes it, at most 80 characters."""
    try:
        return f"{value!r:.80}"
    except ValueError:  # Python writes no int of more than 4300 digits in decimal
        return f"one {type(value).__name__} too long to write out"
