"""The built results pages say what contrib/ holds, and a check notices when they don't."""

import pytest

from benchpipe.contributions.trajectories.writing_back import entered, write
from benchpipe.files import write_bytes
from benchpipe.registry.load import load_registry
from benchpipe.site.agreement import RULE, disagreements
from benchpipe.site.render import Chrome, Renderer
from benchpipe.site.results import results_pages
from benchpipe_tests.conftest import REPOSITORY
from benchpipe_tests.contributions.conftest import TODAY, Contribute, Contribution


@pytest.fixture
def built(contribute: Contribute) -> Contribution:
    """A lab with a verified and an unverified submission, whose results pages are built."""
    honest = contribute()
    poor = contribute(method="claims", variant="poor", rounds=[1], lab=honest.lab)
    poor.edit(lambda doc: (doc.pop("artifacts"), doc.update(x_publish_unverified=True)))
    renderer = Renderer(REPOSITORY / "site_templates", Chrome(public=False))
    for job in results_pages(honest.lab, load_registry(honest.lab), renderer, today=TODAY):
        write_bytes(honest.lab.site / job.path, job.make())
    return honest


def found(built: Contribution) -> set[tuple[str, str]]:
    findings = disagreements(built.lab, load_registry(built.lab), built.lab.site, today=TODAY)
    assert all((finding.rule, finding.severity) == (RULE, "error") for finding in findings)
    return {(finding.file.removeprefix("site/"), finding.message.partition(".")[0]) for finding in findings}


PAGE = "results/deskwork/index.html"
OWN = "results/deskwork/first-come/v1/index.html"


def test_a_fresh_build_agrees_with_contrib(built: Contribution) -> None:
    assert found(built) == set()


@pytest.mark.parametrize("path", [PAGE, OWN])
def test_a_score_that_was_changed_on_a_page_is_noticed(path: str, built: Contribution) -> None:
    page = built.lab.site / path
    page.write_text(page.read_text().replace('data-v-score="0.4', 'data-v-score="0.5'))
    assert found(built) == {(path, "shows other rows than contrib/")}


def test_a_row_moved_between_the_tables_is_noticed(built: Contribution) -> None:
    page = built.lab.site / PAGE
    page.write_text(page.read_text().replace('<h2 id="unverified">', "<h2>").replace('<h2 id="open">', '<h2 id="unverified">'))
    assert found(built) == {(PAGE, "shows other rows than contrib/")}


def test_a_row_file_of_other_bytes_and_a_missing_page_are_noticed(built: Contribution) -> None:
    rows = "data/results/deskwork/rows.verified.csv"
    (built.lab.site / rows).write_text("row_id\n")
    (built.lab.site / OWN).unlink()
    assert found(built) >= {(rows, "holds other rows than contrib/"), (OWN, "is not there")}


def test_a_written_verdict_that_is_no_longer_the_gates_is_noticed(built: Contribution) -> None:
    name = built.lab.relative(built.file)
    write(built.lab, name, entered(built.file.read_bytes(), built.check(), None, None, "2026-11-30T08:00:00Z"))
    assert name not in {path for path, _ in found(built)}
    built.edit(lambda doc: doc["platform"].update(content_sha="0" * 64), built.run_meta)
    assert (name, "says verified: true, the gate says unverified") in found(built)


def test_what_is_merged_after_the_build_is_noticed_whatever_the_memory_says(built: Contribution) -> None:
    memory = built.lab.cache / "contrib" / "deskwork.json"
    before = memory.read_bytes()
    built.edit(lambda doc: doc["runs"].pop(0))
    assert {PAGE, OWN, "data/results/deskwork/rows.verified.json"} <= {path for path, _ in found(built)}
    assert memory.read_bytes() == before
