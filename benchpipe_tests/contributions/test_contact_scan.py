"""The last look at what goes out: contact data that came in by hand stops the decisions from being read, or fails the check."""

import pytest

from benchpipe.checks.contact_data import contact_data
from benchpipe.contributions.contacts import without_contacts
from benchpipe.contributions.decisions import parse_decisions
from benchpipe.errors import UsageError
from benchpipe.files import write_bytes
from benchpipe.registry.load import load_registry
from benchpipe.site.render import Chrome, Renderer
from benchpipe.site.results import results_pages
from benchpipe_tests.conftest import REPOSITORY
from benchpipe_tests.contributions.conftest import TODAY, Contribution

MAIL, ROLE = "ada@" + "mail.example.org", "results@" + "lab.example"


@pytest.mark.parametrize(
    "decision",
    [
        "declined: TEXT",
        "questions: {asked: 2026-11-01, text: TEXT}",
        "trajectories: {asked: 2026-11-01, reason: TEXT}",
        "withdrawn: {at: 2026-11-01, reason: TEXT}",
        "corrections: [{at: 2026-11-01, reason: TEXT}]",
    ],
)
def test_a_decision_written_by_hand_holds_no_contact(decision: str) -> None:
    text = "submissions:\n  first-come/v1: {" + decision + "}\n"
    with pytest.raises(UsageError, match="a text on first-come/v1 is public"):
        parse_decisions(text.replace("TEXT", f"ask {MAIL}").encode(), "deskwork.yml")
    assert parse_decisions(text.replace("TEXT", "a spot check").encode(), "deskwork.yml").submissions


def build(contribution: Contribution, contact: str) -> list[tuple[str, str]]:
    renderer = Renderer(REPOSITORY / "site_templates", Chrome(public=True, contact=contact))
    for job in results_pages(contribution.lab, load_registry(contribution.lab), renderer, today=TODAY):
        write_bytes(contribution.lab.site / job.path, job.make())
    return [(finding.rule, finding.file) for finding in contact_data(contribution.lab.site, ROLE, without_contacts)]


def test_built_results_pages_hold_the_maintainers_contact_and_no_other(honest: Contribution) -> None:
    assert build(honest, ROLE) == []
    pages = {("contact-data", f"results/{page}index.html") for page in ("", "credits/", "deskwork/")}
    assert pages <= set(build(honest, MAIL))
    registered = honest.lab.benchmarks / "deskwork.yml"
    registered.write_text(registered.read_text().replace("name: ", f"name: {MAIL} ", 1))
    assert ("contact-data", "results/index.html") in build(honest, ROLE)
