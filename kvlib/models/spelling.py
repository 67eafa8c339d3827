"""The bytes that a token stands for, in the two alphabets that vocabularies are written in."""

import re


def byte_level(token: str) -> bytes:
    """GPT-2's alphabet, one character a byte. A token that it does not spell stands for itself."""
    try:
        return bytes(BYTES[character] for character in token)
    except KeyError:
        return token.encode()


def metaspace(token: str) -> bytes:
    """SentencePiece's: plain text, a space as U+2581, and for a byte that is no character a token such as <0x0A>."""
    if BYTE_TOKEN.fullmatch(token):
        return bytes([int(token[3:5], 16)])
    return token.replace("\u2581", " ").encode()


def _byte_characters() -> dict[str, int]:
    visible = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    hidden = [byte for byte in range(256) if byte not in visible]
    return {chr(byte): byte for byte in visible} | {chr(256 + index): byte for index, byte in enumerate(hidden)}


BYTES = _byte_characters()
BYTE_TOKEN = re.compile("<0x[0-9A-F]{2}>")
