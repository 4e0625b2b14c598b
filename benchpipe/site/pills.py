"""A trial as a pill: the mode's letter, icon and word of its state, and the details behind it (runs-system 12.5)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchpipe.registry.records import Metric
from benchpipe.site.data import Trial
from benchpipe.site.render import cut
from benchpipe.site.states import LOOKS, mode_short
from benchpipe.trials.records import ACTIVE
from benchpipe.usage import format as fmt

MAX_DETAIL = 600
"""Characters of one detail; the whole text stands on the task page and the log page."""


@dataclass(frozen=True)
class Detail:
    """One line behind a pill."""

    key: str
    value: str


@dataclass(frozen=True)
class Pill:
    """`name` says which trial it is; `since` is the start of a live trial (ISO UTC) or ""; `href` leads to its log or is ""."""

    name: str
    mode: str
    short: str
    state: str
    group: str
    icon: str
    text: str
    since: str
    href: str
    followup: bool
    note: bool
    missing: bool
    """Whether log records are missing that should be there."""
    details: tuple[Detail, ...]


def pill(trial: Trial, run_label: str, metrics: Sequence[Metric] = ()) -> Pill:
    """The pill of one trial with everything there is to say about it."""
    look = LOOKS[trial.state]
    return Pill(
        name=f"{trial.task_title}, {trial.mode}",
        mode=trial.mode,
        short=mode_short(trial.mode),
        state=trial.state,
        group=look.group,
        icon=look.icon,
        text=_text(trial),
        since=(trial.record.started or "") if trial.state in ACTIVE else "",
        href=trial.log,
        followup=bool(trial.record.followup),
        note=bool(trial.note),
        missing=bool(trial.missing),
        details=tuple(Detail(key, cut(value, MAX_DETAIL)) for key, value in details(trial, run_label, metrics) if value),
    )


def progress_text(trial: Trial) -> str:
    """The partial credit as it counts: a success counts 1 whatever the grader wrote (runs-system 9.4)."""
    credit = trial.credit
    return "" if credit is None else f"{credit:.0%}" if 0 <= credit <= 1 else f"{credit:g}"


def metric_text(metric: Metric, value: float | None) -> str:
    """A continuous score in the form its benchmark declares; "" where there is none."""
    if value is None:
        return ""
    try:
        text = format(value, metric.format)
    except ValueError:  # `check` names it; the page shows the number plainly
        text = f"{value:g}"
    return f"{text} {metric.unit}".strip()


def _text(trial: Trial) -> str:
    record, state = trial.record, trial.state
    if state == "queued" and record.rerun:
        return "rerun queued"
    if state == "success":
        return fmt.duration(record.agent_wall_s) if record.agent_wall_s is not None else LOOKS[state].word
    if state == "failed":
        parts = [fmt.duration(record.agent_wall_s)] if record.agent_wall_s is not None else []
        return " ".join([*parts, progress_text(trial)]).strip() or LOOKS[state].word
    return trial.seen.withdrawn or LOOKS[state].word if state == "withdrawn" else LOOKS[state].word


def details(trial: Trial, run_label: str, metrics: Sequence[Metric]) -> Iterator[tuple[str, str]]:
    """What there is to say about a trial, key and text; empty texts mean nothing to say."""
    record = trial.record
    yield "run", run_label
    yield "state", f"{LOOKS[trial.state].word}: {LOOKS[trial.state].help}"
    yield "why", record.reason or ""
    yield "withdrawn", trial.seen.withdrawn_note or ""
    yield "stopped", trial.seen.stopped or ""
    yield "not counted", trial.seen.uncounted or ""
    yield "note", trial.note or ""
    yield "follow-up", record.followup or ""
    yield "trial", record.trial or ""
    yield "host", record.host or ""
    yield "started", fmt.moment(record.started) if record.started else ""
    yield "agent time", fmt.duration(record.agent_wall_s) if record.agent_wall_s is not None else ""
    yield "requests", requests_text(trial)
    yield "tokens", tokens_text(trial)
    yield "est. cost", estimate_text(trial)
    yield "billed", f"{fmt.money(trial.bill.usd)} ({trial.bill.source})" if trial.bill.usd is not None else ""
    yield "progress", _progress_detail(trial)
    for metric in metrics:
        yield metric.label, metric_text(metric, (record.metrics or {}).get(metric.key))
    yield "reward", _mapping(record.reward) + (" (does not count)" if record.reward_counts is False else "")
    yield "exception", record.exception or ""
    yield "log records", f"missing: {', '.join(trial.missing)}" if trial.missing else ""
    yield "regraded", "the verdict comes from a regrade" if record.regraded else ""
    yield "stale", (record.stale_reason or "its host is silent; this is the last known state") if record.stale else ""
    if record.supersedes is not None:
        earlier = record.supersedes
        why = f": {trial.seen.supersedes_followup}" if trial.seen.supersedes_followup else ""
        yield "replaces", f"{earlier.trial or earlier.job or 'an earlier attempt'} ({earlier.state or 'no state'}){why}"


def requests_text(trial: Trial) -> str:
    """Requests with failed ones and those that say no usage; "" where they weren't logged."""
    record = trial.record
    if record.calls is None:
        return ""
    extra = [f"{record.calls_failed} failed"] if record.calls_failed else []
    extra += [f"{record.calls_without_usage} without usage"] if record.calls_without_usage else []
    return f"{record.calls:,}" + (f" ({', '.join(extra)})" if extra else "")


def tokens_text(trial: Trial) -> str:
    """Tokens in words with their source; "" where unknown."""
    tokens = trial.record.tokens
    if tokens is None or (tokens.input is None and tokens.output is None):
        return ""
    parts = [f"{fmt.tokens(tokens.input)} in"]
    parts += [f"{fmt.tokens(tokens.cached)} of it cached"] if tokens.cached is not None else []
    parts += [f"{fmt.tokens(tokens.cache_write)} written to the cache"] if tokens.cache_write else []
    parts += [f"{fmt.tokens(tokens.output)} out"]
    parts += [f"{fmt.tokens(tokens.reasoning)} of it reasoning"] if tokens.reasoning is not None else []
    return ", ".join(parts) + (f" (from {trial.record.tokens_source})" if trial.record.tokens_source else "")


def estimate_text(trial: Trial) -> str:
    """The estimate with how much of the trial it covers and which price it used; "" where there is none."""
    estimate = trial.estimate
    if estimate.usd is None:
        return ""
    price = f"{estimate.price}{f' of {estimate.as_of}' if estimate.as_of else ''}" if estimate.price else "the list price"
    if estimate.flat:
        return f"{fmt.money(estimate.usd)}: its summed tokens at the flat price {price}"
    return f"{fmt.money(estimate.usd)}: {estimate.n_priced} of {estimate.n_requests} requests at {price}"


def _progress_detail(trial: Trial) -> str:
    text, raw = progress_text(trial), trial.record.progress
    if trial.state == "success" and raw is not None and raw != 1:
        return f"{text} (the grader wrote {raw:g}; a success counts 100%)"
    return text


def _mapping(values: Mapping[str, float] | None) -> str:
    return ", ".join(f"{key} {value:g}" for key, value in sorted((values or {}).items()))
