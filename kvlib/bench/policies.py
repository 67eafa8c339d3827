"""The memory policies that are compared, by the name of `--policy`, and what the paper calls them."""

from kvlib.memory.contiguous import Max, Oracle, Pow2

RESERVING = {"max": Max, "pow2": Pow2, "oracle": Oracle}
POLICIES = (*RESERVING, "paged")
NAMES = {"max": "Orca (Max)", "pow2": "Orca (Pow2)", "oracle": "Orca (Oracle)", "paged": "vLLM"}
LEDGER = {"max": "orca-max", "pow2": "orca-pow2", "oracle": "orca-oracle", "paged": "vllm"}  # how ids of numbers begin
