import pytest
import torch

from kvlib.native import library

collect_ignore = [] if library() else ["test_native.py"]


@pytest.fixture(scope="package", autouse=True)
def one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
