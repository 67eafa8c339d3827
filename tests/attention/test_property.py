from hypothesis import given, settings
from hypothesis import strategies as st

from kvlib.attention import attend
from kvlib.bench.kernels.grid import INDEX_DTYPES, QUANTISED
from kvlib.bench.kernels.layouts import LAYOUTS
from kvlib.bench.kernels.problems import BOUNDS, Case, build, error

from .cases import backends_for


@st.composite
def sequences(draw: st.DrawFn) -> tuple[int, int]:
    context_len = draw(st.integers(0, 60))
    return draw(st.integers(0, max(context_len, 1))), context_len


CASES = st.builds(
    Case,
    sequences=st.lists(sequences(), max_size=6).map(tuple),
    block_size=st.integers(1, 40),
    num_kv_heads=st.integers(1, 4),
    group_size=st.integers(1, 6),
    head_size=st.integers(32, 96),
    dtype=st.sampled_from(list(BOUNDS)),
    layout=st.sampled_from(LAYOUTS),
    index_dtype=st.sampled_from(INDEX_DTYPES),
    quantised=st.sampled_from([None, None, *QUANTISED]),
    window=st.sampled_from([None, None, 1, 3, 17, 100]),
    softcap=st.sampled_from([None, None, 0.5, 30.0]),
    sharpness=st.sampled_from([1.0, 1.0, 8.0]),
)


@settings(max_examples=200, deadline=None)
@given(CASES)
def test_any_batch_on_any_backend_is_dense_attention_within_the_bound_of_its_dtype(case: Case):
    problem = build.__wrapped__(case)
    for backend in backends_for(case):
        output = attend(*problem[:3], **problem.options, backend=backend)
        # A score is rounded in proportion to its size, and so are the weights that are made of it.
        assert error(output, problem.expected) <= BOUNDS[case.dtype] * case.sharpness, backend
