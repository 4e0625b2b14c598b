"""The doctor names what is wrong with each host and what to do, and one that is down hides nothing of the others."""

import json
from collections.abc import Callable
from pathlib import Path

from click.testing import CliRunner

from benchpipe.cli.main import cli
from benchpipe.hosts.doctor import Checked, examine
from benchpipe.hosts.pool import Pool
from benchpipe.lab import Lab
from benchpipe.registry.load import load_registry
from benchpipe_tests.hosts.conftest import QUICK, Poll, StartBox

NameHosts = Callable[..., None]
JOB = "tabletop-lunaxh-1001-0900-limited"


def look(lab: Lab, config: Path | None = None) -> dict[tuple[str, str], Checked]:
    with Pool(ssh_config=config, limits=QUICK) as pool:
        return {(line.subject, line.check): line for line in examine(lab, load_registry(lab), pool)}


def test_a_healthy_host_has_a_line_for_everything(start_box: StartBox, jobs: Path, name_hosts: NameHosts, lab: Lab) -> None:
    box = start_box()
    name_hosts(box={"ssh": "box", "jobs": str(jobs)})
    lines = look(lab, box.config)
    assert {check for subject, check in lines if subject == "box"} == {"name", "login", "python", "jobs", "clock", "time", "cache"}
    assert all(line.ok and not line.fix for line in lines.values())
    assert f"port {box.port}" in lines["box", "name"].says


def test_every_fault_is_one_line_with_its_fix_and_the_others_are_looked_at(
    start_box: StartBox, jobs: Path, name_hosts: NameHosts, lab: Lab
) -> None:
    good, stranger, closed = start_box("good"), start_box("stranger"), start_box("closed")
    stranger.known_hosts.write_text("")
    (closed.folder / "authorized_keys").write_text("")
    nowhere = "Host nowhere\n  HostName no-such-host.invalid\n"
    good.config.write_text(good.block() + stranger.block() + closed.block() + nowhere)
    name_hosts(
        nowhere={"ssh": "nowhere", "jobs": "/x"},
        stranger={"ssh": "stranger", "jobs": str(jobs)},
        closed={"ssh": "closed", "jobs": str(jobs), "transport": "openssh"},
        unmounted={"ssh": "good", "jobs": "/no/such/place"},
        snake={"ssh": "good", "jobs": str(jobs), "python": "python9"},
        good={"ssh": "good", "jobs": str(jobs)},
    )
    lines = look(lab, good.config)
    wrong = {place: line for place, line in lines.items() if not line.ok}
    assert set(wrong) == {
        ("nowhere", "name"),
        ("nowhere", "login"),
        ("stranger", "login"),
        ("closed", "login"),
        ("unmounted", "probe"),
        ("snake", "probe"),
    }
    assert all(line.fix for line in wrong.values())
    assert "ssh stranger true" in wrong["stranger", "login"].says
    assert "python:" in wrong["snake", "probe"].says
    assert "/no/such/place" in wrong["unmounted", "probe"].says
    assert lines["good", "jobs"].ok


def test_a_broken_registry_file_is_a_line(lab: Lab) -> None:
    (lab.agents / "broken.yml").write_text("label: [\n")
    lines = look(lab)
    assert any(not line.ok and "broken.yml" in subject for (subject, _), line in lines.items())
    assert lines["gpu1", "jobs"].ok


def test_charges_under_a_billing_that_has_none_are_named(lab: Lab, poll: Poll) -> None:
    trial = sorted((lab.root / "jobs" / "gpu1" / JOB).glob("*__*"))[0]
    (trial / "agent" / "openrouter_costs.json").write_text('{"g": {"total_cost": 0.25}}')
    poll()
    line = look(lab)["bench_literal-gpt6_luna-xhigh", "billing"]
    assert not line.ok
    assert "0.25 USD charged in 1 trials" in line.says
    assert line.fix == "if it was paid, set `billing:` in data/agents/bench_literal-gpt6_luna-xhigh.yml"


def test_the_command_prints_and_exits_as_documented(lab: Lab, name_hosts: NameHosts, jobs: Path) -> None:
    def run(*arguments: str) -> tuple[object, str]:
        done = CliRunner().invoke(cli, ["--lab", str(lab.root), "doctor", *arguments], standalone_mode=False)
        return done.return_value if done.exception is None else done.exception, done.output

    name_hosts(here={"jobs": str(jobs)})
    code, text = run()
    assert code == 0
    assert "✓ ok   here" in text
    name_hosts(here={"jobs": "/nowhere"})
    code, text = run("--json")
    assert code == 1
    said = json.loads(text)
    assert said["ok"] is False
    assert {line["check"] for line in said["checks"] if not line["ok"]} == {"probe"}
    name_hosts()
    code, text = run()
    assert "hosts.<name>.local.yml" in str(code)
