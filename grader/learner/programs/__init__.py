"""Whole CUDA programs on a machine without a GPU: `./warpbook run`, `check` and `profile`."""
