"""Steps from sessions, trajectories and robots; media; which source wins; genuine jobs and published logs."""

import json
import os
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from benchpipe.registry.records import Backfill
from benchpipe.transcripts.build import Facts, build_log, call_rows
from benchpipe.transcripts.records import Log, Problems, load_log
from benchpipe.transcripts.robot import read_robot
from benchpipe.usage.records import Request
from benchpipe_tests.transcripts import made_logs as made

FACTS = Facts(benchmark="b", run="codex-m-high", task="t", mode="limited", state="success", trial="t__1")


def built(trial: Path, facts: Facts = FACTS) -> Log:
    return build_log(trial, facts, made.requests_of(trial), slot=trial.parent / "slot", now="2026-11-30T00:00:00+00:00")


def test_a_codex_session_gives_messages_thoughts_runs_and_their_exit_codes(tmp_path: Path) -> None:
    made.write_lines(tmp_path / "t/agent/sessions/2026/11/30/rollout-1.jsonl", made.codex_session(2))
    log = built(tmp_path / "t")
    assert log.source == "sessions"
    assert [(step.k, step.by) for step in log.steps] == [
        ("say", "user"),
        *[("think", None), ("say", None), ("run", None)] * 2,
    ]
    runs = [step for step in log.steps if step.k == "run"]
    assert [(run.cmd, run.status, run.wall, run.out) for run in runs] == [
        ("ls 0", "ok", 0.5, "file 0\n"),
        ("ls 1", "failed", 0.5, "file 1\n"),
    ]
    assert runs[0].te == pytest.approx(runs[0].t + 1)


def test_a_forked_codex_session_tells_its_history_once(tmp_path: Path) -> None:
    lines = made.codex_session(2)
    made.write_lines(tmp_path / "t/agent/sessions/a.jsonl", lines)
    once = built(tmp_path / "t").steps
    made.write_lines(tmp_path / "t/agent/sessions/b.jsonl", lines)
    assert built(tmp_path / "t").steps == once


def test_claude_code_sessions_are_merged_by_time_and_sub_agents_are_named(tmp_path: Path) -> None:
    folder = tmp_path / "t/agent/sessions/projects/-app"
    made.write_lines(folder / "main.jsonl", made.claude_session(2))
    made.write_lines(folder / "agent-x.jsonl", made.claude_session(1, side="x"))
    log = built(tmp_path / "t")
    assert [step.t for step in log.steps] == sorted(step.t for step in log.steps)
    assert {step.agent for step in log.steps} == {None, "x"}
    runs = [step for step in log.steps if step.k == "run" and step.agent is None]
    assert [(run.tool, run.cmd, run.status, run.out) for run in runs] == [
        ("Bash", "echo 0", "ok", "0\n"),
        ("Bash", "echo 1", "failed", "1\n"),
    ]
    assert runs[0].img == ["img/001.png"]


def atif(steps: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    return {"schema_version": "ATIF-v1.7", "agent": {"name": "terminus"}, "steps": steps, **more}


def agent_step(n: int, text: str, keystrokes: str = "") -> dict[str, Any]:
    step: dict[str, Any] = {"step_id": n, "timestamp": made.iso(made.T0 + n), "source": "agent", "message": text}
    if keystrokes:
        step["tool_calls"] = [{"tool_call_id": "c", "function_name": "bash_command", "arguments": {"keystrokes": keystrokes}}]
        step["observation"] = {"results": [{"source_call_id": "c", "content": f"$ {keystrokes}"}]}
    return step


def test_a_trajectory_goes_on_in_its_continuation_files_and_copied_steps_are_told_once(tmp_path: Path) -> None:
    agent = tmp_path / "t/agent"
    agent.mkdir(parents=True)
    first = agent_step(1, "one", "ls\n")
    copied = {**first, "is_copied_context": True}
    sub = atif([agent_step(1, "sub")], agent={"name": "searcher"})
    (agent / "trajectory.json").write_text(json.dumps(atif([first])))
    (agent / "trajectory.cont-2.json").write_text(json.dumps(atif([copied, agent_step(3, "three")], subagent_trajectories=[sub])))
    (agent / "trajectory.cont-1.json").write_text(json.dumps(atif([copied, agent_step(2, "two")])))
    log = built(tmp_path / "t")
    assert [(step.text or step.cmd, step.agent) for step in log.steps] == [
        ("one", None),
        ("ls\n", None),
        ("two", None),
        ("three", None),
        ("sub", "searcher"),
    ]
    assert log.steps[1].out == "$ ls\n"


def test_the_gateway_wins_over_sessions_and_sessions_over_the_trajectory(tmp_path: Path) -> None:
    agent = tmp_path / "t/agent"
    agent.mkdir(parents=True)
    (agent / "trajectory.json").write_text(json.dumps(atif([agent_step(1, "from trajectory")])))
    assert built(tmp_path / "t").source == "trajectory"
    made.write_lines(agent / "sessions/a.jsonl", made.codex_session(1))
    assert built(tmp_path / "t").source == "sessions"
    (agent / "gateway.jsonl").write_text("not a log\n")
    assert built(tmp_path / "t").source == "sessions"
    made.write_lines(agent / "gateway.jsonl", made.gateway_lines(2))
    assert built(tmp_path / "t").source == "gateway"


def test_a_link_that_leads_out_of_the_trial_is_not_followed(tmp_path: Path) -> None:
    secret = made.write_lines(tmp_path / "elsewhere.jsonl", made.gateway_lines(2))
    agent = tmp_path / "t/agent"
    agent.mkdir(parents=True)
    (agent / "gateway.jsonl").symlink_to(secret)
    assert built(tmp_path / "t").steps == []


def test_genuine_trials_of_every_shape_give_their_steps(lab: Any) -> None:
    """The shipped jobs: single and multi-step, two Harbor releases, agents without a transcript."""
    trials = [path.parent for path in (lab.root / "jobs").rglob("config.json") if "__" in path.parent.name]
    assert len(trials) > 20
    sources = set()
    for trial in trials:
        log = build_log(trial, FACTS, made.requests_of(trial), slot=lab.root / "slots" / trial.name, now="")
        sources.add(log.source)
        assert log.problems == []
        assert log.totals.calls == len(log.calls)
        if trial.name.startswith("tabletop-set-table"):
            assert [step.by for step in log.steps].count("user") == 2  # one instruction per step of the task
            assert [step.t for step in log.steps] == sorted(step.t for step in log.steps)
    assert {"trajectory", None} <= sources


def test_the_ends_of_the_trials_own_texts_are_kept(tmp_path: Path) -> None:
    trial = tmp_path / "t"
    (trial / "verifier").mkdir(parents=True)
    (trial / "exception.txt").write_text("x" * 20_000 + "ValueError: the end")
    (trial / "verifier/test-stdout.txt").write_text("\x1b[31m2 failed\x1b[0m")
    kept = built(trial).kept
    assert [(one.name, one.n) for one in kept] == [("exception.txt", 20_019), ("verifier/test-stdout.txt", 17)]
    assert kept[0].text.endswith("ValueError: the end")
    assert kept[1].text == "2 failed"


def test_call_rows_carry_cache_writes_and_the_exact_charge_at_their_end() -> None:
    request = Request(made.T0 + 1, 2.5, 200, "r", 100, 50, 7, 20, 5, Decimal("0.00315"), "x", "m", "agent/gateway.jsonl", 0)
    assert call_rows([request], made.T0) == [[1.0, 3.5, 200, 100, 50, 20, 5, 7, "0.00315"]]


# --- robots ----------------------------------------------------------------------------------------------------------


def test_events_without_a_call_are_folded_and_those_with_one_are_not(tmp_path: Path) -> None:
    lines = [{"ev": "step", "ts": made.T0 + n / 10, "type": "qpos", "success": False} for n in range(15_000)]
    lines[9_000]["success"] = True
    lines += [{"ev": "submit", "ts": made.T0 + 1600, "call": 4, "control_steps": 21, "n_clipped": 0}] * 2
    lines += [{"ev": "end", "ts": made.T0 + 1700, "reason": "timeout"}, {"ev": "bad"}, {"ts": "x", "ev": "bad"}]
    path = made.write_lines(tmp_path / "episode.jsonl", lines)
    events, ended = read_robot(path, made.T0, Problems())
    assert [(event.ev, event.n, event.call) for event in events] == [
        ("step", 9_000, None),
        ("step", None, None),
        ("step", 5_999, None),
        ("submit", None, 4),
        ("submit", None, 4),
        ("end", None, None),
    ]
    assert (events[0].t, events[0].te) == (0.0, 899.9)
    assert (ended.reason, ended.error) == ("timeout", None)


def test_a_trusted_recording_is_read_where_there_is_no_episode_log(tmp_path: Path) -> None:
    trial = tmp_path / "t"
    made.write_lines(trial / "agent/gateway.jsonl", made.gateway_lines(2))
    kinds = ["agent_start", "observation", "action_end", "request_rejected", "episode_end"]
    lines = [
        {"kind": kind, "at": made.iso(made.T0 + n), "reason": "out of reach", "camera": "wrist"} for n, kind in enumerate(kinds)
    ]
    made.write_lines(trial / "artifacts/trusted-recording/events.jsonl", lines)
    log = built(trial)
    assert [(event.ev, event.call, event.steps) for event in log.robot] == [
        ("agent_start", None, None),
        ("observe", 1, None),
        ("step", None, 1),
        ("request_rejected", 2, None),
        ("end", None, None),
    ]
    assert log.ended.reason == "out of reach"
    assert log.totals.robot == 2


# --- media -----------------------------------------------------------------------------------------------------------


def test_the_replay_is_the_regrades_then_the_verifiers_and_hand_made_words_and_videos_win(tmp_path: Path) -> None:
    trial, slot, whole = tmp_path / "t", tmp_path / "slot", made.mp4(b"ftyp", b"moov")
    for folder, mark in (("verifier", b"first"), ("verifier_regrade", b"again")):
        (trial / folder).mkdir(parents=True)
        (trial / folder / "replay.mp4").write_bytes(whole + made.mp4(mark[:4]))
    (trial / "verifier/replay.last.png").write_bytes(made.png(1))
    log = built(trial)
    assert (log.media.video, log.media.last) == ("replay.mp4", "replay.png")
    assert b"firs" in (slot / "replay.mp4").read_bytes()
    (trial / "verifier_regrade/reward.json").write_text('{"success": 1}')
    assert built(trial).media.last is None
    assert b"agai" in (slot / "replay.mp4").read_bytes()
    later = tmp_path / "later.mp4"
    later.write_bytes(whole)
    assert built(trial, replace(FACTS, backfill_video=later)).media.rerendered is True
    silenced = Facts(
        benchmark="b", run="r", task="t", mode="m", state="success", trial="t", backfill=Backfill(video_problem="lost")
    )
    assert built(trial, silenced).media.problem == "lost"
    assert not (slot / "replay.mp4").exists()


def test_a_cut_off_replay_is_named_and_the_agents_own_images_are_shown_instead(tmp_path: Path) -> None:
    trial = tmp_path / "t"
    (trial / "verifier").mkdir(parents=True)
    (trial / "verifier/replay.mp4").write_bytes(made.mp4(b"ftyp", b"moov")[:-3])
    out = trial / "artifacts/app/output"
    (out / "deep").mkdir(parents=True)
    for n in range(15):
        path = out / "deep" / f"view{n}.png"
        path.write_bytes(made.png(n))
        os.utime(path, (n, n))
    (out / "gen.py").write_text("print(1)\n" * 10_000)
    log = built(trial)
    assert log.media.video is None
    assert log.media.problem
    assert [snap.name for snap in log.snapshots] == [f"deep/view{n}.png" for n in range(3, 15)]
    assert log.gen is not None
    assert len(log.gen) < 41_000


def test_published_logs_of_the_original_are_read_as_they_are(shared: Path) -> None:
    files = list((shared / "samples/eai/data/published_runs").glob("*/*/*/*.json"))
    assert len(files) == 3
    for file in files:
        log, said = load_log(file), json.loads(file.read_bytes())
        assert (log.trial, log.span, len(log.steps)) == (said["trial"], said["span"], len(said["steps"]))
        assert log.calls == said["calls"]
        assert [event.ev for event in log.robot] == [event["ev"] for event in said["robot"]]


def test_a_trajectory_without_times_is_read_too_and_says_that_it_has_none(tmp_path: Path) -> None:
    agent = tmp_path / "t/agent"
    agent.mkdir(parents=True)
    first, second = agent_step(1, "one"), agent_step(2, "two")
    del first["timestamp"]
    (agent / "trajectory.json").write_text(json.dumps(atif([first, second])))
    assert [step.t for step in built(tmp_path / "t").steps] == [0.0, 0.0]
    del second["timestamp"]
    (agent / "trajectory.json").write_text(json.dumps(atif([first, second])))
    log = built(tmp_path / "t")
    assert ([step.text for step in log.steps], log.start, log.span) == (["one", "two"], None, 0.0)
