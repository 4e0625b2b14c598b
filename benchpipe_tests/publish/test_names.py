"""Machines and places of a lab: named nowhere in what leaves, and no other word is touched."""

from pathlib import Path

import msgspec
import pytest

from benchpipe.errors import UsageError
from benchpipe.lab import Lab
from benchpipe.publish.find import Finder
from benchpipe.publish.names import Places, all_rules, lab_rules, machine_filter, private_places
from benchpipe.publish.redact import redact_text
from benchpipe.registry.load import load_registry
from benchpipe.registry.records import Host, Place, Public, Registry

WHERE = Place("hosts.me.local.yml")
REGISTRY = Registry(
    hosts={
        "gpu1": Host(name="gpu1", place=WHERE, jobs="/data/me/rcb_jobs/agents", ssh="me@big-box.example", transport="paramiko"),
        "local": Host(name="local", place=WHERE, jobs="../jobs"),
    },
    public=Public(machine_names=("node[0-9]{2}",)),
)
PLACES = private_places(Lab(Path("/srv/somewhere/lab")), REGISTRY)


def test_names_come_from_hosts_files_and_the_committed_patterns() -> None:
    assert (
        Places(
            machines=(r"big\-box\.example", "gpu1", "(?:node[0-9]{2})"), paths=("/data/me/rcb_jobs/agents", "/srv/somewhere/lab")
        )
        == PLACES
    )


@pytest.mark.parametrize(
    ("text", "filtered"),
    [
        ("regrade queued on gpu1: the disk was full", "regrade queued on one of our machines: the disk was full"),
        ("the gpu1 GPU was lost", "a GPU of ours was lost"),
        ("gpu1's driver crashed", "one of our machines' driver crashed"),
        ("copied from the node07 to big-box.example", "copied from one of our machines to one of our machines"),
        ("see /data/gpu1/x and gpu10, gpu1-old, a.gpu1 and local", "see /data/gpu1/x and gpu10, gpu1-old, a.gpu1 and local"),
    ],
)
def test_notes_name_no_machine(text: str, filtered: str) -> None:
    assert machine_filter(PLACES)(text) == filtered
    assert machine_filter(PLACES)(filtered) == filtered


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("rsync -a me@gpu1:/data/x .", "rsync -a <host>:/data/x ."),
        ("ssh -p 22 node07 nvidia-smi", "ssh -p 22 <host> nvidia-smi"),
        ("gpu1:~/notes", "<host>:~/notes"),
        ("cat /data/me/rcb_jobs/agents/job/result.json", "cat <path>/job/result.json"),
        ("cd /srv/somewhere/lab && make", "cd <path> && make"),
        ("Linux gpu1 5.15.0-88-generic #98 SMP", "Linux <host> 5.15.0-88-generic #98 SMP"),
        ("HOSTNAME=node07\nhostname: 'gpu1'", "HOSTNAME=<host>\nhostname: '<host>'"),
        ("(base) me@gpu1 $ ls; mail me@gpu1-old", "(base) <host> $ ls; mail me@gpu1-old"),
        ("cuda device gpu1 of 4; https://docs.example/gpu10:/x", "cuda device gpu1 of 4; https://docs.example/gpu10:/x"),
    ],
)
def test_transcripts_lose_machines_in_paths_and_commands_and_the_labs_folders(text: str, redacted: str) -> None:
    finder = Finder(lab_rules(PLACES))
    assert redact_text(text, finder) == redacted
    assert redact_text(text, Finder(lab_rules(PLACES), plain=True)) == redacted
    assert redact_text(redacted, finder) == redacted


@pytest.mark.parametrize("pattern", ["node(", "(node)[0-9]", "x*"])
def test_a_broken_pattern_stops_publication_rather_than_letting_names_out(pattern: str) -> None:
    registry = msgspec.structs.replace(REGISTRY, public=Public(machine_names=(pattern,)))
    with pytest.raises(UsageError, match="machine_names"):
        private_places(Lab(Path("/srv/x/lab")), registry)


def test_without_hosts_nothing_is_filtered(lab: Lab) -> None:
    assert machine_filter(Places())("on gpu1") == "on gpu1"
    assert len(all_rules(lab, load_registry(lab))) > 80
