"""Directories of the dataset repository, `Experiments/<benchmark>/…`: read, recomputed, never executed (contributions 17)."""
