"""How much two kernels have in common: as source after preprocessing, and as the code that they compile to."""
