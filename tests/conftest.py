"""Triton reads this once, when it is first imported: all kernels of this process run in its interpreter."""

import os

os.environ["TRITON_INTERPRET"] = "1"
