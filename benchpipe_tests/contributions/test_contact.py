"""Contact data, put wherever it could stand, is in no byte that leaves: report, rows, pages, credits, commands (16.2)."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from benchpipe.contributions.comment import submission_comment
from benchpipe.contributions.contacts import MARK, without_contacts
from benchpipe.contributions.report import as_json, as_text
from benchpipe.contributions.rows import results_of
from benchpipe.contributions.store import check_dataset
from benchpipe.contributions.tables import data_files
from benchpipe.registry.load import load_registry
from benchpipe.site.render import Chrome, Renderer
from benchpipe.site.results import results_pages
from benchpipe_tests.conftest import REPOSITORY
from benchpipe_tests.contributions.conftest import TODAY, Contribution

MAIL = "ada.l+bench@" + "mail.example.org"
WECHAT = "ada_wx_1815"
SECRETS = (MAIL, "ada.l+bench", WECHAT)


def places(value: Any, where: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every path of a JSON value that holds a text."""
    if isinstance(value, dict):
        return [place for key, item in value.items() for place in places(item, (*where, key))]
    if isinstance(value, list):
        return [place for n, item in enumerate(value) for place in places(item, (*where, n))]
    return [where] if isinstance(value, str) else []


def put(doc: Any, where: tuple[Any, ...], text: str) -> None:
    for key in where[:-1]:
        doc = doc[key]
    doc[where[-1]] = text


def everything(contribution: Contribution) -> dict[str, bytes]:
    """All that benchpipe writes or prints about a contribution, by name."""
    lab = contribution.lab
    report = contribution.check().report
    out = {
        "json": json.dumps(as_json(report), ensure_ascii=False).encode(),
        "markdown": submission_comment(report).encode(),
        "text": as_text(report).encode(),
    }
    registry = load_registry(lab)
    dataset = check_dataset(lab, "deskwork", registry.benchmarks, today=TODAY)
    results = results_of(dataset)
    out |= {path: make() for path, make in data_files(results).items()}
    out["results"] = msgspec.json.encode(results)
    renderer = Renderer(REPOSITORY / "site_templates", Chrome(public=True))
    out |= {job.path: job.make() for job in results_pages(lab, registry, renderer, today=TODAY)}
    out["remembered"] = msgspec.json.encode(dataset.checked)
    return out


def assert_clean(contribution: Contribution, what: object) -> None:
    for name, data in everything(contribution).items():
        for secret in SECRETS:
            at = data.find(secret.encode())
            assert at < 0, (what, name, data[max(0, at - 80) : at + 80])


def full(contribution: Contribution) -> None:
    """A submission with every optional text filled in."""

    def fill(doc: dict[str, Any]) -> None:
        doc["method"] |= {"paper": "https://example.org/p", "code": "https://example.org/c"}
        doc["credit"] |= {"affiliation": "Lab", "link": "https://example.org/a", "x_note": "n"}
        doc["config"] |= {"endpoint": "http://127.0.0.1/v1", "seed": "s"}
        doc |= {"x_publish_unverified": True, "x_remark": "r"}
        doc["trajectories"] = {"location": "https://example.org/t", "format": "f", "bytes": 1, "sha256": "0" * 64}

    contribution.edit(fill)


def test_a_mail_address_in_any_text_of_a_submission_never_comes_out(honest: Contribution) -> None:
    full(honest)
    original = honest.file.read_text()
    found = places(honest.doc)
    assert len(found) > 40
    for where in found:
        for text in (MAIL, f"https://example.org/~{MAIL}"):
            honest.file.write_text(original)
            honest.edit(lambda doc, where=where, text=text: put(doc, where, text))
            assert_clean(honest, where)


def test_the_contact_value_itself_never_comes_out_wherever_it_is_repeated(honest: Contribution) -> None:
    full(honest)
    honest.edit(lambda doc: doc["credit"].update(contact=WECHAT))
    original = honest.file.read_text()
    for where in (("credit", "name"), ("credit", "affiliation"), ("x_remark",), ("task_agent", "decoding"), ("method", "code")):
        honest.file.write_text(original)
        honest.edit(
            lambda doc, where=where: put(doc, where, f"https://example.org/{WECHAT}" if where[-1] == "code" else f"I am {WECHAT}")
        )
        assert_clean(honest, where)


@pytest.mark.parametrize("contact", [[MAIL, WECHAT], {"mail": MAIL, "id": WECHAT}, f"WeChat: {WECHAT}"])
def test_a_contact_of_any_shape_is_kept_quiet_in_what_is_said_about_it(contact: object, honest: Contribution) -> None:
    honest.edit(lambda doc: doc["credit"].update(contact=contact))
    assert "SUB-021" in {finding.code for finding in honest.check().report.findings}
    assert_clean(honest, contact)


@pytest.mark.parametrize("value", ["score", "exam", ["backwards_1", "backwards_2"], {"id": 1234}])
def test_a_contact_under_any_key_is_refused_and_touches_nothing_else(value: object, honest: Contribution) -> None:
    honest.edit(lambda doc: doc["method"].update(x_contact=value))
    report = honest.check().report
    assert {finding.code for finding in report.findings} == {"SUB-021"}
    assert report.findings[0].message.startswith("method.x_contact")
    everything(honest)


def test_an_empty_contact_is_none(honest: Contribution) -> None:
    honest.edit(lambda doc: doc["credit"].update(contact=None, x_contact=["", " "]))
    assert honest.check().report.verdict == "verified"


def test_contact_data_in_per_task_files_run_records_and_keys_never_comes_out(honest: Contribution) -> None:
    honest.edit(lambda doc: doc.update(x_publish_unverified=True))
    honest.edit(lambda doc: doc["tasks"]["backwards_1"].update(detail=MAIL, kind=MAIL), honest.per_task(1))
    honest.edit(lambda doc: doc["harness_failed"].update(backwards_1={"exit_code": 1, "stderr": MAIL}), honest.per_task(1))
    honest.edit(lambda doc: doc.update(run_id=MAIL, sampling_policy=MAIL, agent_model=MAIL), honest.run_meta)
    honest.edit(lambda doc: doc["platform"].update(content_sha=MAIL), honest.run_meta)
    honest.edit(lambda doc: doc.update(name=MAIL, version=MAIL), honest.tree(3) / "harness.json")
    honest.edit_curve(lambda points: points[3]["identity"].update(agent_model=MAIL))
    assert_clean(honest, "records")
    honest.edit(lambda doc: doc["tasks"].update({MAIL: {"score": 0}}), honest.per_task(1))
    assert_clean(honest, "a task id")
    honest.edit(lambda doc: doc.update({MAIL: 1}))
    assert_clean(honest, "a key")


def test_the_validator_keeps_contacts_to_itself(honest: Contribution) -> None:
    honest.edit(lambda doc: doc["credit"].update(contact=WECHAT, name=f"{WECHAT} <{MAIL}>", extra=WECHAT))
    command = [sys.executable, str(REPOSITORY / "contrib" / "validate.py"), str(honest.file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert not [secret for secret in SECRETS if secret in done.stdout + done.stderr]


@pytest.mark.parametrize(
    "text",
    [
        MAIL,
        f"mailto:{MAIL}",
        "ada (at) mail.example.org",
        "WeChat: ada_l",
        "微信：ada_l",
        "wxid_abc123",
        "+49 170 1234567",
        "telegram id = ada",
    ],
)
def test_what_is_contact_data(text: str) -> None:
    assert without_contacts(f"ask {text} please") == f"ask {MARK} please"


@pytest.mark.parametrize(
    "text",
    [
        "loop@0.2.0",
        "first-come@1.0",
        "0.2.0+r0A",
        "2026-11-30",
        "score 0.9321 at 134",
        "https://example.org/a@1",
        "signal 9",
        "line: 3",
    ],
)
def test_what_is_none(text: str) -> None:
    assert without_contacts(text) == text


def test_the_shipped_files_hold_none() -> None:
    for path in (REPOSITORY / "contrib").rglob("*.json"):
        assert isinstance(path, Path)
        assert without_contacts(path.read_text()) == path.read_text(), path
