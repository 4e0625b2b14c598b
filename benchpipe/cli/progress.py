"""Progress of long work on stderr: a bar where a person watches, a line per step elsewhere. Results stay on stdout."""

import contextlib
import sys
from collections.abc import Callable, Iterator

import rich_click as click

Step = Callable[[int, int | None, str], None]
"""(how many are done, of how many or None, what is being done)."""


@contextlib.contextmanager
def progress(name: str, *, lines: bool = True) -> Iterator[Step]:
    """What the block calls at each step. Without `lines` only the bar shows them: what is worth keeping is printed anyway."""
    if not sys.stderr.isatty():
        yield (lambda done, n, doing: click.echo(f"{name}: {done + 1} of {n}: {doing}", err=True)) if lines else _nothing
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True, redirect_stdout=sys.stdout.isatty()) as bar:
        task = bar.add_task(name, total=None)
        yield lambda done, n, doing: bar.update(task, completed=done, total=n, description=f"{name}: {escape(doing)}")


def _nothing(done: int, n: int | None, doing: str) -> None:
    pass
