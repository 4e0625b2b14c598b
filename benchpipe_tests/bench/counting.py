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
print(json.dumps({{"seconds": seconds, "peak_kb": peak, "totals": totals}}))
"""

PROBE = """
from benchpipe.probe.growing import read_growing
from benchpipe.probe.gateway_log import read_gateway
rows = read_gateway(sys.argv[1], {None: None} and type("Empty", (), {"get": lambda s, k: None, "put": lambda s, k, v: None})()).rows
ok = [row for row in rows if row[10]]
totals = [len(rows), len(ok), *(sum(row[i] for row in ok) for i in (4, 5, 7, 8))]
"""

PLAIN = """
def usage(text):
    for event in reversed(text.split("\\n\\n")):
        at = event.find("data: ")
        if at >= 0 and '"response.completed"' in event:
            return json.loads(event[at + 6:])["response"]["usage"]
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


def measure(work: str, log: Path) -> dict:
    """Processor seconds, peak memory and totals of one way of counting, in a process of its own."""
    program = MEASURE.format(work=work)
    return json.loads(subprocess.run([sys.executable, "-c", program, str(log)], check=True, capture_output=True).stdout)


def run(full: bool) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "gateway.jsonl"
        size = write_log(log, seed=1, total=(500 if full else 50) * MB)
        probe, plain = measure(PROBE, log), measure(PLAIN, log)
        again = measure(PROBE, log)
        probe["seconds"] = min(probe["seconds"], again["seconds"])
    yield f"log: {size / MB:.0f} MB, {probe['totals'][0]} requests of 50 to 500 kB"
    for name, one in (("probe", probe), ("json.loads per line", plain)):
        yield f"{name}: {one['seconds']:.2f} s, {size / MB / one['seconds']:.0f} MB/s, peak {one['peak_kb'] / 1000:.0f} MB"
    yield f"ratio: {plain['seconds'] / probe['seconds']:.1f} times; same totals: {probe['totals'] == plain['totals']}"
