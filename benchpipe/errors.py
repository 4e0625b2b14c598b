"""Errors that a person can act on. Anything else that is raised is a defect of ours and keeps its traceback.

BenchpipeError            message for the user; the command exits with `exit_code`
├── UsageError            wrong use, or nothing to work on (2)
├── FoundProblems         a check, gate or scan found something (1)
└── LockHeld              somebody else is at it; not a fault (0)
"""


class BenchpipeError(Exception):
    """A message that names the file, the line where there is one, and the fix."""

    exit_code = 1


class UsageError(BenchpipeError):
    """Wrong use or nothing to work on: no lab, no host, a lab that can't be written."""

    exit_code = 2


class FoundProblems(BenchpipeError):
    """A check, gate or scan found something; the findings were printed already."""

    exit_code = 1


class LockHeld(BenchpipeError):
    """Another process holds the lock; the message says which process and since when."""

    exit_code = 0
