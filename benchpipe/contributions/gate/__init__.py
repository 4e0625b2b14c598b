"""The gate: one module per check of a submission, each a pure function of what was gathered (contributions 5 to 15)."""
