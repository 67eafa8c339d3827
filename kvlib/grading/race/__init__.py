"""What lab 9, *Race the kernel*, counts, draws and compares."""
