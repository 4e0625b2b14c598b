"""What `benchpipe explain` says to a wrong question."""

import pytest
from click.testing import CliRunner

from benchpipe.cli.main import cli
from benchpipe.errors import UsageError
from benchpipe.lab import Lab

RUN = "bench_literal-gpt6_luna-xhigh"


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (("nope", RUN), "no benchmark nope with runs here; there are: tabletop"),
        (("tabletop", "nope"), "tabletop has no run nope; it has: bench_literal-gpt6_luna-xhigh"),
        (("tabletop", RUN, "nope"), f"{RUN} has no task nope; it has: stack_blocks"),
        (("tabletop", RUN, "stack_blocks"), "stack_blocks was tried in several modes; add one: unlimited, limited"),
        (("tabletop", RUN, "stack_blocks", "nope"), f"{RUN} has no stack_blocks nope; its modes: unlimited, limited"),
    ],
)
def test_a_wrong_question_is_answered_with_what_there_is(lab: Lab, question: tuple[str, ...], answer: str) -> None:
    done = CliRunner().invoke(cli, ["--lab", str(lab.root), "explain", *question])
    assert isinstance(done.exception, UsageError)
    assert str(done.exception).startswith(answer)
