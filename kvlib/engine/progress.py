"""How far a long call is, for whoever watches it."""

import sys

from tqdm import tqdm

LONG_S = 3  # seconds after which a call says how far it is


def progress(num_requests: int, wanted: bool) -> tqdm:
    """A bar on stderr that counts finished requests; none where it is not `wanted`, where neither a terminal nor a
    notebook shows it, or where the environment has TQDM_DISABLE."""
    watched = sys.stderr is not None and (sys.stderr.isatty() or "ipykernel" in sys.modules)
    how = {} if wanted and watched else {"disable": True}
    return tqdm(total=num_requests, desc="requests", unit="", delay=LONG_S, leave=False, **how)
