"""How far a long call is, for whoever watches it."""

import sys

from tqdm import tqdm

LONG_S = 3  # seconds after which a call says how far it is


def progress(num_tokens: int, wanted: bool) -> tqdm:
    """A bar on stderr that counts tokens, of `num_tokens` at most; none where it is not `wanted`, where neither a
    terminal nor a notebook shows it, or where the environment has TQDM_DISABLE."""
    watched = sys.stderr is not None and (sys.stderr.isatty() or "ipykernel" in sys.modules)
    how = {} if wanted and watched else {"disable": True}
    return tqdm(total=num_tokens, desc="tokens, at most", unit="", delay=LONG_S, mininterval=1, leave=False, **how)
