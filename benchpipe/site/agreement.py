"""Do the results pages of a built site say what contrib/ holds, and do merged files say what the gate says? Rows are made
afresh, from no memory, and compared.

Writes nothing.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import date
from html import unescape
from pathlib import Path

from benchpipe.checks.findings import Finding
from benchpipe.contributions.rows import Results, Row, key_of
from benchpipe.contributions.store import Dataset
from benchpipe.contributions.tables import data_files
from benchpipe.lab import Lab
from benchpipe.registry.records import Registry
from benchpipe.site.addresses import results_page
from benchpipe.site.results import load_results
from benchpipe.site.results_lines import row_line, submission_address

RULE = "page_and_record_agree"
_ROW = re.compile(r'<tr data-v-name="([^"]*)" data-v-score="([^"]*)" data-v-delta="([^"]*)"')
_UNVERIFIED = '<h2 id="unverified">'


def disagreements(lab: Lab, registry: Registry, site: Path, *, today: date) -> list[Finding]:
    """Row files and pages below `site` that differ from the rows of the merged files: other bytes, other rows, or not there.

    And merged files whose written verdict is no longer the one that their rows have.
    """
    found = []
    for _, dataset, results in load_results(lab, registry, today=today, remembered=False):
        for path, fault in (*_files(site, results), *_pages(site, dataset, results)):
            found.append(Finding(RULE, "error", lab.relative(site / path), None, f"{fault}. Build the site again"))
        for path, fault in _written(dataset):
            found.append(Finding(RULE, "error", path, None, f"{fault}. Bring it up to date: benchpipe contrib mirror"))
    return found


def _written(dataset: Dataset) -> Iterator[tuple[str, str]]:
    for checked in dataset.checked:
        status, report = (checked.doc or {}).get("status"), checked.report
        if status is None:
            continue
        reasons = [(reason["code"], reason["message"]) for reason in status["reasons"]]
        if status["verified"] != (report.verdict == "verified"):
            yield checked.path, f"says verified: {str(status['verified']).lower()}, the gate says {report.verdict}"
        elif reasons != [(said.code, said.message) for said in report.reasons]:
            yield checked.path, "gives other reasons than the gate"


def _files(site: Path, results: Results) -> Iterator[tuple[str, str]]:
    for path, make in data_files(results).items():
        if not (site / path).is_file():
            yield path, "is not there"
        elif (site / path).read_bytes() != make():
            yield path, "holds other rows than contrib/"


def _pages(site: Path, dataset: Dataset, results: Results) -> Iterator[tuple[str, str]]:
    everything = (*results.verified, *results.unverified)
    tables: dict[str, tuple[Iterable[Row], ...]] = {results_page(results.dataset): (results.verified, results.unverified)}
    for checked in dataset.checked:
        own = [row for row in everything if row.submission_path == checked.path]
        tables[submission_address(results.dataset, *key_of(checked.path))] = (own,)
    for address, wanted in tables.items():
        path = f"{address}index.html"
        if not (site / path).is_file():
            yield path, "is not there"
        elif _shown((site / path).read_text(encoding="utf-8"), parts=len(wanted)) != [_lines(rows) for rows in wanted]:
            yield path, "shows other rows than contrib/"


def _shown(html: str, *, parts: int) -> list[Counter[tuple[str, ...]]]:
    """Name, score and improvement of the rows that a page shows: verified ones and, apart, unverified ones; or all in one part."""
    halves = html.split(_UNVERIFIED, parts - 1)
    return [Counter(tuple(map(unescape, row)) for row in _ROW.findall(half)) for half in halves]


def _lines(rows: Iterable[Row]) -> Counter[tuple[str, ...]]:
    return Counter((line.name, line.score_key, line.delta_key) for line in map(row_line, rows))
