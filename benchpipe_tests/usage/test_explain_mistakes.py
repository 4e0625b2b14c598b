"""What `benchpipe explain` says to a wrong question."""

from datetime import UTC, datetime

import pytest
from click.testing import CliRunner

from benchpipe.cli.main import cli
from benchpipe.errors import UsageError
from benchpipe.hosts.poll import poll_hosts
from benchpipe.hosts.store import load_requests
from benchpipe.lab import Lab
from benchpipe.registry.load import load_registry
from benchpipe.trials.collect import collect_states
from benchpipe.trials.view import view
from benchpipe.usage.collect import collect_costs

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
    registry, now = load_registry(lab), datetime.now(UTC)
    files = collect_states(lab, registry, poll_hosts(lab, registry, now=now).readings, "tabletop", now).run_files
    views = [view(run, files[name], registry.benchmarks["tabletop"].tasks) for name, run in registry.plans["tabletop"].runs.items()]
    collect_costs(lab, registry, "tabletop", views, lambda digest: load_requests(lab, digest))
    done = CliRunner().invoke(cli, ["--lab", str(lab.root), "explain", *question])
    assert isinstance(done.exception, UsageError)
    assert str(done.exception).startswith(answer)
