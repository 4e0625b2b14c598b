"""Joins the probe's modules into the program that is sent to a host. Itself it stays here.

Pieces go to standard input, each compressed and behind its length: the loader with the modules that every poll needs; the
modules that read files, which are unpacked and compiled only where there is something to read; then calls, one for each
request, for as long as the connection is kept. The modules keep their names on the host.
"""

import functools
import hashlib
import json
import zlib
from pathlib import Path

ALWAYS = ("listing", "liveness", "protocol", "main")
HERE_ONLY = ("__init__", "program")

BOOT = "import sys,zlib;i=sys.stdin.buffer;exec(zlib.decompress(i.read(int(i.readline()))))"
"""Runs the first piece. Safe inside single quotes in every shell."""

_LOADER = """
import sys, zlib
if sys.version_info < (3, 8):
    sys.stderr.write("benchpipe needs Python 3.8 or newer on the host, this is %%d.%%d\\n" %% sys.version_info[:2])
    sys.exit(9)
from importlib.machinery import ModuleSpec
sources = %s
more = i.read(int(i.readline()))
class Sent:
    def find_spec(self, name, path=None, target=None):
        if name.startswith("benchpipe"):
            if name not in sources:
                import json
                sources.update(json.loads(zlib.decompress(more).decode()))
            return ModuleSpec(name, self, is_package=not sources[name])
    def create_module(self, spec):
        return None
    def exec_module(self, module):
        exec(compile(sources[module.__name__], module.__name__, "exec"), module.__dict__)
sys.meta_path.insert(0, Sent())
from benchpipe.probe.main import serve
serve(i)
"""


@functools.cache
def _pieces() -> tuple[bytes, bytes]:
    """Loader and further modules, compressed."""
    files = sorted(path for path in Path(__file__).parent.glob("*.py") if path.stem not in HERE_ONLY)
    sources = {f"benchpipe.probe.{path.stem}": path.read_text("utf-8") for path in files}
    always = {"benchpipe": "", "benchpipe.probe": ""}
    always.update((f"benchpipe.probe.{name}", sources.pop(f"benchpipe.probe.{name}")) for name in ALWAYS)
    return zlib.compress((_LOADER % repr(always)).encode(), 9), zlib.compress(json.dumps(sources).encode(), 9)


@functools.cache
def salt() -> str:
    """Version of the program. Part of every fingerprint: another program reads everything anew."""
    return hashlib.sha256(b"".join(_pieces())).hexdigest()[:16]


def start() -> bytes:
    """What goes to standard input first."""
    return b"".join(_piece(packed) for packed in _pieces())


def call(request: dict[str, object]) -> bytes:
    """What goes to standard input to have `request` answered; it consists of plain text, numbers, lists and mappings."""
    return _piece(zlib.compress(f"run({request!r})".encode()))


def _piece(packed: bytes) -> bytes:
    return b"%d\n%s" % (len(packed), packed)
