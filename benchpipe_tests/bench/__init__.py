"""Benchmarks: whole-process figures read by eye, each beside a named alternative measured in the same run.

A benchmark is a module of this folder with `TITLE: str` and `run(full: bool) -> Iterator[str]` that yields lines to print.
`full=False` is a small size that ends within seconds; `make bench` runs the full size. Nothing here is a test.
"""
