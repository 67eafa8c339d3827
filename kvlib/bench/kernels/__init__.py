"""What the attention kernels have to prove: problems with known answers, compiled code, planted faults."""
