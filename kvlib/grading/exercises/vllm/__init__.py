"""Lab 12, *The same workload on vLLM*."""
