"""What was handed in: whose it is, and the kernels in it."""
