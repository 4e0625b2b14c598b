"""A poll that the instance hears of: hosts whose reading changed become runless materialisations of `host_trials`.

One plain function asks the hosts (`hosts.poll`); `benchpipe runs`, `host_poll_sensor` and the asset's body call it.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import dagster as dg

from benchpipe.hosts.poll import PollResult
from benchpipe.hosts.reading import HostReading

HOST_TRIALS = dg.AssetKey("host_trials")


def reading_metadata(reading: HostReading) -> dict[str, Any]:
    """What an operator wants to know of a host: whether it answered, how many trials it holds and in which shape."""
    trials = [trial for job in reading.jobs for trial in job.trials]
    results = Counter(trial.result for trial in trials)
    problems = sum(len(job.problems) + sum(len(trial.problems) for trial in job.trials) for job in reading.jobs)
    return {
        "answered": reading.ok,
        "error": reading.error or "—",
        "at": reading.at or "—",
        "n_jobs": len(reading.jobs),
        "n_jobs_alive": sum(job.alive for job in reading.jobs),
        "n_trials": len(trials),
        "n_trials_with_result": results["whole"],
        "n_problems": problems,
        "inputs": reading.digest or "—",
    }


def materialization(reading: HostReading) -> dg.AssetMaterialization:
    """The runless event of one host's new reading."""
    return dg.AssetMaterialization(
        HOST_TRIALS,
        partition=reading.host,
        metadata=reading_metadata(reading),
        tags={"dagster/data_version": reading.digest or "none"},
    )


def answers(readings: Sequence[HostReading]) -> dg.AssetCheckEvaluation:
    """The check `host_answers`: which hosts did not answer the last poll."""
    silent = [reading for reading in readings if not reading.ok]
    return dg.AssetCheckEvaluation(
        asset_key=HOST_TRIALS,
        check_name="host_answers",
        passed=not silent,
        severity=dg.AssetCheckSeverity.WARN,
        description="; ".join(f"{reading.host}: {reading.error}" for reading in silent)[:1000] or "every host answered",
        metadata={"n_hosts": len(readings), "n_silent": len(silent)},
    )


def report_poll(instance: dg.DagsterInstance, result: PollResult) -> None:
    """Tell the instance what a poll brought. Nothing new: nothing is written."""
    if not result.changed:
        return
    for host in result.changed:
        instance.report_runless_asset_event(materialization(result.readings[host]))
    asked = [reading for reading in result.readings.values() if reading.asked]
    instance.report_runless_asset_event(answers(asked))


def summary(result: PollResult) -> str:
    """One line: how many hosts answered, which changed, which are down."""
    asked = [reading for reading in result.readings.values() if reading.asked]
    down = sorted(reading.host for reading in asked if not reading.ok)
    line = f"{len(asked) - len(down)} of {len(asked)} hosts answered"
    line += f"; changed: {', '.join(result.changed)}" if result.changed else "; nothing changed"
    return line + (f"; down: {', '.join(down)}" if down else "")
