"""The agreed round 0 of each task agent, as the benchmark's file registers it (contributions 5.3, 13): what may serve as H0."""

from collections.abc import Callable, Mapping
from typing import Any

from benchpipe.contributions.contacts import without_contacts
from benchpipe.contributions.per_task import Scores, read_scores
from benchpipe.contributions.stacks import Baseline, Candidate, agent_key, conditions_of, stack_key, stack_of
from benchpipe.contributions.strict_json import Refused
from benchpipe.registry.records import Benchmark

Read = Callable[[str], bytes | None]
"""Gives the bytes of a lab-relative file, or None where it is absent."""
NAMED = ("base_harness", "model", "decoding", "sampling")
"""What `config` has to say besides the trials, which the per-task file knows."""


def baselines_of(benchmark: Benchmark, read: Read) -> dict[str, Baseline]:
    """`baseline: {<model>_<base harness>: {harness_sha, config, per_task}}` by agent_key; without `per_task` it is no H0."""
    registered = benchmark.raw.get("baseline")
    entries = registered.items() if isinstance(registered, Mapping) else ()
    return {
        agent_key(agent): _baseline(benchmark.id, without_contacts(agent), entry, read)
        for agent, entry in entries
        if isinstance(entry, Mapping) and isinstance(entry.get("harness_sha"), str)
    }


def _baseline(dataset: str, agent: str, entry: Mapping[str, Any], read: Read) -> Baseline:
    sha, path = entry["harness_sha"], entry.get("per_task")
    if path is None:
        return Baseline(agent, sha)
    try:
        scores = _measured(str(path), read)
        return Baseline(agent, sha, h0=_h0(dataset, agent, sha, entry.get("config"), scores))
    except Refused as refused:
        return Baseline(agent, sha, fault=str(refused))


def _measured(path: str, read: Read) -> Scores:
    try:
        data = read(path)
    except Refused as refused:
        raise _refused(f"names {path}, which {refused}") from None
    if data is None:
        raise _refused(f"names {path}, which is not there")
    scores, faults = read_scores(data, path, 0)
    if scores is None:
        raise _refused(f"has a per-task file that can't be read: {faults[0].message.removesuffix('.')}")
    return scores


def _h0(dataset: str, agent: str, sha: str, config: Any, scores: Scores) -> Candidate:
    """The baseline as a measurement, if it passes what the gate asks of every H0."""
    names = [config.get(name) if isinstance(config, Mapping) else None for name in NAMED]
    if not all(isinstance(name, str) for name in names):
        raise _refused(f"needs config: {{{', '.join(NAMED)}}}")
    base_harness, model, decoding, sampling = map(str, names)
    full = scores.full
    if full is None or (full.dataset, full.harness_sha, full.round) != (dataset, sha, 0):
        raise _refused(f"has a per-task file that is not of round 0 of {sha} on {dataset}")
    if full.invalid or full.harness_failed or full.score_kind != "exam" or not all(0 <= n <= 1 for n in scores.by_task.values()):
        raise _refused("has a per-task file that would not pass the gate")
    stack = (dataset, full.pool, base_harness, model, decoding)
    return Candidate(
        row_id=f"{dataset}/baseline/{agent}#{without_contacts(full.run_id)}@0",
        path="",
        stack=stack_of(*stack, stack_key(*stack)),
        conditions=conditions_of(full.trials, sampling),
        round=0,
        harness_sha=sha,
        by_task=scores.shown,
        sound=True,
        verified=True,
    )


def _refused(fault: str) -> Refused:
    return Refused([(None, "", fault)])
