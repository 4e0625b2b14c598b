"""The rules between the fields of one submission file (contributions 3.13), as far as the file alone can tell (F2).

Standard library only: this module is a part of `contrib/validate.py`; the gate calls the same functions. Nothing is read
here. Every rule stands by itself: a field that is missing or of a wrong type is the schema's business.
"""

import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from functools import partial
from itertools import islice
from typing import Any

from benchpipe.contributions.contacts import contact_places
from benchpipe.contributions.file_codes import SUB
from benchpipe.contributions.findings import Finding, named
from benchpipe.contributions.strict_json import MAX_FAULTS, escape

_PLACEHOLDER = re.compile(r"<[^<>]*>|…")
_PAGE_WORDS = {"you", "your-method", "your name", "your institution", "https://your.site"}
_TEMPERATURE = re.compile(r"temperature\s*=\s*([0-9.]*[0-9])")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
MIN_DECIMALS, MAX_DECIMALS = 4, 12


def field(value: Any, *path: str) -> Any:
    """The value at a path of keys, or None where there is none."""
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def runs_of(doc: Any) -> list[tuple[int, dict[str, Any]]]:
    """The objects of `runs` with their index."""
    runs = field(doc, "runs")
    return [(n, run) for n, run in enumerate(runs) if isinstance(run, dict)] if isinstance(runs, list) else []


def file_findings(doc: Any, place: str, *, platform_written: bool = False) -> list[Finding]:
    """All findings of the rules. `place` is the file's path with `/`; `platform_written`: status is the platform's own."""
    rules: list[Callable[[Any], Iterator[Finding]]] = [
        partial(_names, place=place),
        _equal_fields,
        _rounds,
        _paths,
        _attainable,
        _short_commit,
        _contact,
        _placeholders,
    ]
    if not platform_written:
        rules.append(_platform_fields)
    return [finding for rule in rules for finding in islice(rule(doc), MAX_FAULTS)]


def _names(doc: Any, place: str) -> Iterator[Finding]:
    dataset, method, variant = field(doc, "dataset"), field(doc, "method", "name"), field(doc, "variant")
    _, inside, here = place.rpartition("/contrib/results/")
    if inside and all(isinstance(name, str) for name in (dataset, method, variant)):
        said = f"{dataset}/{method}/{variant}.json"
        if here != said:
            yield SUB["SUB-010"].finding(path=here, said=said)
    submitted = field(doc, "credit", "submitted")
    if isinstance(submitted, list) and isinstance(dataset, str) and isinstance(method, str):
        pairs = [(field(item, "dataset"), field(item, "method")) for item in submitted]
        if (dataset, method) not in pairs:
            yield SUB["SUB-016"].finding("/credit/submitted", dataset=dataset, method=method)


def _equal_fields(doc: Any) -> Iterator[Finding]:
    improver, name = field(doc, "improver", "method"), field(doc, "method", "name")
    if isinstance(improver, str) and isinstance(name, str) and improver.partition("@")[0] != name:
        yield SUB["SUB-011"].finding("/improver/method", a=improver, b=name)
    for code, kind, left, right in (
        ("SUB-012", int, ("improver", "rounds"), ("config", "rounds")),
        ("SUB-013", str, ("task_agent", "model"), ("config", "model")),
    ):
        a, b = field(doc, *left), field(doc, *right)
        if isinstance(a, kind) and isinstance(b, kind) and a != b:
            yield SUB[code].finding("/" + "/".join(right), a=a, b=b)
    decoding, config = field(doc, "task_agent", "decoding"), field(doc, "config")
    if not isinstance(config, dict) or "temperature" not in config:
        return
    temperature = config["temperature"]
    in_words = _TEMPERATURE.search(decoding) if isinstance(decoding, str) else None
    if in_words is None or in_words[1].count(".") > 1 or not (temperature is None or isinstance(temperature, int | Decimal)):
        return
    if temperature is None or Decimal(in_words[1]) != temperature:
        yield SUB["SUB-014"].finding("/config/temperature", a=in_words[1], b="null" if temperature is None else temperature)


def _rounds(doc: Any) -> Iterator[Finding]:
    rounds = field(doc, "config", "rounds")
    seen: dict[tuple[str, int], dict[str | None, int]] = {}
    for n, run in runs_of(doc):
        number, run_id = run.get("round"), run.get("run_id")
        if not isinstance(number, int):
            continue
        if isinstance(rounds, int) and number > rounds:
            yield SUB["SUB-015"].finding(f"/runs/{n}/round", run=n, n=n, a=number, b=rounds)
        if isinstance(doc, dict) and "improver" in doc and doc["improver"] is None and number > 0:
            yield SUB["SUB-024"].finding(f"/runs/{n}/round", run=n, n=n, a=number)
        pool = str(run["pool"]) if run.get("pool") is not None else None
        others = seen.setdefault((str(run_id), number), {})
        first = next(iter(others.values()), None) if pool is None else others.get(pool, others.get(None))
        if first is not None:
            yield SUB["SUB-023"].finding(f"/runs/{n}", run=n, n=n, first=first)
        others.setdefault(pool, n)


def path_fault(path: str) -> str:
    """Why a path of a submission is not taken; empty if it is fine (3.12). Links are found when the file is read."""
    if not path or "\0" in path:
        return "is empty or holds a null character"
    if "\\" in path:
        return "has a backslash"
    if path.startswith(("/", "~")) or _SCHEME.match(path):
        return "is not relative"
    if any(part in ("", ".", "..") for part in path.split("/")):
        return "has empty, '.' or '..' parts"
    if len(path) > 400 or any(len(part.encode()) > 200 for part in path.split("/")):
        return "is too long"
    return ""


def _paths(doc: Any) -> Iterator[Finding]:
    first: dict[str, int] = {}
    own = f"results/{field(doc, 'dataset')}/{field(doc, 'method', 'name')}/"
    for n, run in runs_of(doc):
        path = run.get("per_task")
        if not isinstance(path, str):
            continue
        path = path.removeprefix("contrib/")
        if fault := path_fault(path):
            yield SUB["SUB-017"].finding(f"/runs/{n}/per_task", run=n, n=n, fault=fault)
        elif path.startswith("results/") and not path.startswith(own):
            yield SUB["SUB-017"].finding(f"/runs/{n}/per_task", run=n, n=n, fault="lies in the folder of another method")
        elif path in first:
            yield SUB["SUB-017"].finding(f"/runs/{n}/per_task", run=n, n=n, fault=f"is the file of runs[{first[path]}] too")
        first.setdefault(path, n)


def agrees(reported: Decimal | int, exact: Fraction) -> bool:
    """Whether a reported literal is the exact value, rounded to its own 4 to 12 decimals (7.2); fewer must be exact."""
    decimals = decimals_of(reported)
    difference = abs(exact - Fraction(reported))
    if decimals < MIN_DECIMALS:
        return difference == 0
    return difference <= tolerance(reported)


def tolerance(reported: Decimal | int) -> Fraction:
    """Half a unit of the last decimal of a literal, and 1e-12 for whoever rounded in binary (7.2)."""
    decimals = min(max(decimals_of(reported), MIN_DECIMALS), MAX_DECIMALS)
    return Fraction(1, 2 * 10**decimals) + Fraction(1, 10**12)


def decimals_of(number: Decimal | int) -> int:
    """Digits after the point of a literal as it was written."""
    exponent = Decimal(number).as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def _attainable(doc: Any) -> Iterator[Finding]:
    trials = field(doc, "config", "trials")
    for n, run in runs_of(doc):
        score, n_tasks = run.get("score"), run.get("n_tasks")
        if not isinstance(score, int | Decimal) or not all(isinstance(x, int) and 0 < x < 10**9 for x in (n_tasks, trials)):
            continue
        if isinstance(score, bool) or not 0 <= score <= 1:
            continue
        steps = n_tasks * trials
        below = int(Fraction(score) * steps)
        if not any(agrees(score, Fraction(k, steps)) for k in (below, below + 1)):
            near = ", ".join(f"{k}/{steps} = {k / steps:.4f}" for k in (below, below + 1))
            yield SUB["SUB-018"].finding(f"/runs/{n}/score", run=n, score=score, n_tasks=n_tasks, trials=trials, near=near)


def _platform_fields(doc: Any) -> Iterator[Finding]:
    for path in (("status",), ("verified",), ("mirrored",), ("trajectories", "mirror"), ("trajectories", "verified")):
        parent = field(doc, *path[:-1])
        if isinstance(parent, dict) and path[-1] in parent:
            yield SUB["SUB-020"].finding("/" + "/".join(path), name=".".join(path))


def _short_commit(doc: Any) -> Iterator[Finding]:
    commit = field(doc, "platform", "commit")
    if isinstance(commit, str) and re.fullmatch(r"[0-9a-f]{7,39}", commit):
        yield SUB["SUB-025"].finding("/platform/commit", n=len(commit))


def _contact(doc: Any) -> Iterator[Finding]:
    for pointer, _ in contact_places(doc):
        yield SUB["SUB-021"].finding(pointer, name=named(pointer))


def _placeholders(value: Any, pointer: str = "") -> Iterator[Finding]:
    if isinstance(value, dict):
        for key, item in value.items():
            if not key.startswith("x_") and f"{pointer}/{key}" != "/credit/contact":
                yield from _placeholders(item, f"{pointer}/{escape(key)}")
    elif isinstance(value, list):
        for n, item in enumerate(value):
            yield from _placeholders(item, f"{pointer}/{n}")
    elif isinstance(value, str):
        words = {value.strip().lower(), value.partition("@")[0].lower()}
        marked = _PLACEHOLDER.search(value)
        if marked or words & _PAGE_WORDS:
            yield SUB["SUB-022"].finding(pointer, name=named(pointer), text=marked[0] if marked else value.strip())
