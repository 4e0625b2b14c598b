"""Who is named for what (contributions 16): one entry per person, and the list for the technical report. Pure."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from benchpipe.contributions.checking import Checked
from benchpipe.contributions.rows import Results, credit_line


class Pair(msgspec.Struct, frozen=True, order=True):
    """One thing submitted, and whether its rows are verified."""

    dataset: str
    method: str
    verified: bool


class Contributor(msgspec.Struct, frozen=True, kw_only=True):
    """One name with everything it has rows for. `acknowledge`: asked to be named in the report for a verified row."""

    name: str
    affiliation: str | None
    link: str | None
    pairs: tuple[Pair, ...]
    acknowledge: bool

    @property
    def line(self) -> str:
        """`name (affiliation)`."""
        return credit_line({"name": self.name, "affiliation": self.affiliation})


def contributors(checked: Iterable[Checked], results: Iterable[Results]) -> list[Contributor]:
    """Everybody with a row on the site, by name; several submissions of one (name, affiliation) are one entry."""
    shown = {row.submission_path: row.verified for result in results for row in (*result.verified, *result.unverified)}
    people: dict[tuple[str, str | None], list[tuple[Mapping[str, Any], Pair, bool]]] = {}
    for entry in checked:
        if entry.doc is None or entry.path not in shown:
            continue
        credit = entry.doc["credit"]
        pair = Pair(entry.doc["dataset"], entry.doc["method"]["name"], shown[entry.path])
        wanted = credit.get("acknowledge_in_report") is True and pair.verified
        people.setdefault((credit["name"], credit.get("affiliation")), []).append((credit, pair, wanted))
    return [
        Contributor(
            name=name,
            affiliation=affiliation,
            link=next((credit["link"] for credit, _, _ in entries if credit.get("link")), None),
            pairs=tuple(sorted({pair for _, pair, _ in entries})),
            acknowledge=any(wanted for _, _, wanted in entries),
        )
        for (name, affiliation), entries in sorted(people.items(), key=lambda item: (item[0][0].casefold(), item[0][1] or ""))
    ]


def acknowledged(people: Iterable[Contributor]) -> list[dict[str, str | None]]:
    """The report's list: verified and asked for (`acknowledge_in_report`), name and affiliation only."""
    return [{"name": person.name, "affiliation": person.affiliation} for person in people if person.acknowledge]
