"""benchpipe: a lab's memory of coding-agent runs on robot benchmarks."""

__version__ = "0.1.0"
