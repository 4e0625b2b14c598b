"""Trajectory archives of strangers: downloaded, checked, replayed, mirrored, never unpacked or executed (contributions 15)."""
