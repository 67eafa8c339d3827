"""`python -m kvlib` is the command `kvlib`."""

import sys

from kvlib.cli import main

sys.exit(main())
