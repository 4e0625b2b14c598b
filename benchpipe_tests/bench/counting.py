"""How fast the probe counts a gateway log, beside a plain `json.loads` of every line that comes to the same totals."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchpipe_tests.bench._gateway_logs import write_log

TITLE = "counting a gateway log: the probe against json.loads per line"
MB = 1_000_000

MEASURE = """
import json, re, sys, time
started = time.process_time()
{work}
seconds = time.process_time() - started
peak = int(re.search("VmHWM:[^0-9]*([0-9]+)", open("/proc/self/status").read()).group(1))
print(json.dumps({"seconds": seconds, "peak_kb": peak, "totals": totals}))
"""

PROBE = """
from benchpipe.probe.gateway_log import read_gateway
class Kept(dict):
    put = dict.__setitem__
rows = read_gateway(sys.argv[1], Kept()).rows
ok = [row for row in rows if row[10]]
totals = [len(rows), len(ok), *(sum(row[i] for row in ok) for i in (4, 5, 7, 8))]
"""

PLAIN = """
def usage(text):
    found = None
    for line in text.split("\\n"):
        if line.startswith("data: "){only}:
            event = json.loads(line[6:])
            if event["type"] == "response.completed":
                found = event["response"]["usage"]
    return found
totals = [0] * 6
with open(sys.argv[1], "rb") as file:
    for line in file:
        record = json.loads(line)
        if record["method"] == "POST":
            totals[0] += 1
            found = usage(record["response"]) if record["status"] == 200 else None
            if found:
                totals[1] += 1
                totals[2] += found["input_tokens"]
                totals[3] += found["input_tokens_details"]["cached_tokens"]
                totals[4] += found["output_tokens"]
                totals[5] += found["output_tokens_details"]["reasoning_tokens"]
"""
WAYS = {
    "json.loads of every line and every event": PLAIN.replace("{only}", ""),
    "json.loads of every line and of events with usage": PLAIN.replace("{only}", " and '\"usage\"' in line"),
    "json.loads of every line, answers unread, no totals": "totals = None\nfor line in open(sys.argv[1], 'rb'): json.loads(line)\n",
}


def measure(work: str, log: Path) -> dict:
    """Processor seconds, peak memory and totals of one way of counting, in a process of its own."""
    program = MEASURE.replace("{work}", work)
    return json.loads(subprocess.run([sys.executable, "-c", program, str(log)], check=True, capture_output=True).stdout)


def best(work: str, log: Path) -> dict:
    """The fastest of three measurements."""
    return min((measure(work, log) for _ in range(3)), key=lambda one: one["seconds"])


def run(full: bool) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "gateway.jsonl"
        size = write_log(log, seed=1, total=(500 if full else 50) * MB)
        probe, *others = (best(work, log) for work in (PROBE, *WAYS.values()))
    n = probe["totals"][0]
    yield f"log: {size / MB:.0f} MB, {n} requests of {size / n / 1000:.0f} kB on average; processor time, best of 3"
    yield f"probe: {probe['seconds']:.2f} s, {size / MB / probe['seconds']:.0f} MB/s, peak {probe['peak_kb'] / 1000:.0f} MB"
    for name, one in zip(WAYS, others, strict=True):
        ratio = one["seconds"] / probe["seconds"]
        yield f"{name}: {one['seconds']:.2f} s, peak {one['peak_kb'] / 1000:.0f} MB; the probe is {ratio:.1f} times as fast"
        if one["totals"]:
            yield f"  same totals: {one['totals'] == probe['totals']}"
