"""A run's own record is made publishable by one command, and what was not is refused with its place and never its value."""

import json
import subprocess
import sys

import pytest

from benchpipe.contributions.scrub import scrubbed
from benchpipe.contributions.strict_json import Refused
from benchpipe.files import sha256
from benchpipe_tests.contributions.conftest import Contribution
from benchpipe_tests.contributions.forgeries import HOME, MAIL, TOKEN

LOCAL = {
    "workspace": HOME,
    "base_harness": "base_harness/loop",
    "improver": {"name": "dsh", "path": "improvers/dsh", "modified": False},
    "failed_steps": [{"round": 2, "why": f"{MAIL} said no"}, "/srv/x/y"],
    "endpoint": "http://10." + "1.2.3:8000/v1",
    "note": TOKEN,
}


def test_a_scrubbed_record_is_verified_again_and_names_its_original(honest: Contribution) -> None:
    honest.edit(lambda doc: doc.update(LOCAL), honest.run_meta)
    original = honest.run_meta.read_bytes()
    report = honest.check().report
    assert report.verdict == "refused"
    places = {said.message.partition(" (")[0] for said in report.findings if said.code == "PUB-008"}
    assert any(place.startswith("possible user path in contrib/results/") for place in places)
    assert not [secret for secret in (MAIL, TOKEN) if secret in repr(report)]
    command = [sys.executable, "-c", "from benchpipe.cli.main import main; main()", "contrib", "scrub", str(honest.run_meta)]
    done = subprocess.run(command, capture_output=True, check=True)
    assert b"dropped /workspace" in done.stderr
    honest.run_meta.write_bytes(done.stdout)
    assert honest.check().report.verdict == "verified"
    record = json.loads(done.stdout)
    assert record["scrubbed_from"] == sha256(original)
    assert record["improver"] == {"name": "dsh", "modified": False}
    assert record["failed_steps"] == [{"round": 2, "why": "<e-mail> said no"}]
    assert record["endpoint"] == "http://<ip>:8000/v1"
    assert "workspace" not in record
    assert "base_harness" not in record


def test_scrubbing_again_changes_nothing_and_a_clean_record_names_no_original() -> None:
    once = scrubbed(json.dumps({"run_id": "a", "workspace": HOME, "score": 0.50}).encode())
    assert scrubbed(once.data).data == once.data
    clean = b'{\n  "score": 1.50\n}\n'
    assert scrubbed(clean).data == clean


def test_what_only_contributed_texts_are_looked_through_for_is_dropped_too(honest: Contribution) -> None:
    own = {
        "endpoint": "http://gpu1.corp." + "internal:8000/v1",
        "telegram": "@" + "ada_love",
        "argv": ["--proxy", "ssh://ada@gpu7." + "lan", "--call", "+49 " + "170 1234567"],
        f"{HOME}/run": 1,
    }
    honest.edit(lambda doc: doc.update(own), honest.run_meta)
    assert honest.check().report.verdict == "refused"
    done = scrubbed(honest.run_meta.read_bytes())
    honest.run_meta.write_bytes(done.data)
    assert honest.check().report.verdict == "verified"
    assert done.left == ()
    assert json.loads(done.data)["argv"] == ["--proxy", "--call"]


def test_of_the_list_of_study_tasks_the_name_stays_since_it_is_compared(honest: Contribution) -> None:
    name = honest.doc["config"]["study_ids"]
    done = scrubbed(json.dumps({"config": {"study_ids": f"{HOME}/lists/{name}"}}).encode())
    assert json.loads(done.data)["config"]["study_ids"] == name
    assert done.dropped == ("the folder of /config/study_ids",)


def test_what_scrubbing_can_not_take_out_is_told_with_its_line() -> None:
    done = scrubbed(json.dumps({f"from {HOME}/x": 1}).encode())
    assert [message.partition(";")[0] for message in done.left] == ["possible user path in the scrubbed record:2 (rule home"]


def test_what_is_no_record_is_refused() -> None:
    with pytest.raises(Refused, match="not a JSON object"):
        scrubbed(b"[]")


def test_names_that_look_like_addresses_and_the_endpoint_may_be_declared(honest: Contribution) -> None:
    model = "llama-4@" + "groq.com"

    def declare(doc: dict[str, dict[str, str]]) -> None:
        doc["config"].update(model=model, endpoint="http://10." + "1.2.3:8000/v1")
        doc["task_agent"].update(model=model)

    honest.edit(declare)
    honest.edit(lambda doc: doc.update(agent_model=model), honest.run_meta)
    honest.edit_curve(lambda points: [point["identity"].update(agent_model=model) for point in points])
    assert honest.check().report.verdict == "verified"
