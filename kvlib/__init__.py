"""kvlib: KV-cache management and paged attention, written to be read.

Importing this package imports neither torch nor triton nor matplotlib; `kvlib.engine` and `kvlib.attention`
need torch, `kvlib.show` needs matplotlib, everything else is standard library.
"""

__version__ = "0.1.0"
