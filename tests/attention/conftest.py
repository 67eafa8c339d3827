import pytest

from kvlib.bench.kernels.problems import build
from kvlib.native import library

collect_ignore = [] if library() else ["test_native.py"]


@pytest.fixture(scope="package", autouse=True)
def problems_are_let_go():
    """Those of the whole grid take a gigabyte."""
    yield
    build.cache_clear()
