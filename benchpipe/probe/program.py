"""Joins the probe's modules into the one program that is sent to a host. Itself it stays here.

The modules keep their names on the host: a small finder serves them from the program's text, so that one which isn't
needed is never compiled there.
"""

import functools
import hashlib
import json
import zlib
from pathlib import Path

BOOT = "import sys,zlib;i=sys.stdin.buffer;exec(zlib.decompress(i.read(int(i.readline()))))"
"""Runs the program that comes on standard input behind its length. Safe inside single quotes in every shell."""

_LOADER = """
import sys
if sys.version_info < (3, 8):
    sys.stderr.write("benchpipe needs Python 3.8 or newer on the host, this is %d.%d\\n" % sys.version_info[:2])
    sys.exit(9)
from importlib.machinery import ModuleSpec
SOURCES = {"benchpipe": "", "benchpipe.probe": ""}
class Sent:
    def find_spec(self, name, path=None, target=None):
        if name in SOURCES:
            return ModuleSpec(name, self, is_package=not SOURCES[name])
    def create_module(self, spec):
        return None
    def exec_module(self, module):
        exec(compile(SOURCES[module.__name__], module.__name__, "exec"), module.__dict__)
sys.meta_path.insert(0, Sent())
"""


@functools.cache
def program() -> bytes:
    """The program's text: the loader, the modules' sources, and the call."""
    files = sorted(path for path in Path(__file__).parent.glob("*.py") if path.stem not in ("__init__", "program"))
    sources = {f"benchpipe.probe.{path.stem}": path.read_text("utf-8") for path in files}
    # JSON text of strings is a Python literal too
    return f"{_LOADER}SOURCES.update({json.dumps(sources)})\nfrom benchpipe.probe.main import main\nmain()\n".encode()


@functools.cache
def salt() -> str:
    """Version of the program. Part of every fingerprint: another program reads everything anew."""
    return hashlib.sha256(program()).hexdigest()[:16]


def sent(request: dict[str, object]) -> bytes:
    """What goes to standard input: the program and `request`, each behind its length."""
    text = json.dumps(request).encode()
    packed = _packed()
    return b"%d\n%s%d\n%s" % (len(packed), packed, len(text), text)


@functools.cache
def _packed() -> bytes:
    return zlib.compress(program(), 9)
