"""`python -m benchpipe_tests.bench [--quick] [NAME]…`: run the benchmarks, all or the named ones."""

import importlib
import pkgutil
import sys

import benchpipe_tests.bench as package


def main(arguments: list[str]) -> int:
    quick = "--quick" in arguments
    names = [name for name in arguments if not name.startswith("-")]
    known = sorted(m.name for m in pkgutil.iter_modules(package.__path__) if not m.name.startswith("_"))
    unknown = set(names) - set(known)
    if unknown:
        print(f"no such benchmark: {', '.join(sorted(unknown))}; there are: {', '.join(known)}", file=sys.stderr)
        return 2
    for name in names or known:
        module = importlib.import_module(f"benchpipe_tests.bench.{name}")
        print(f"\n{name}: {module.TITLE}", flush=True)
        for line in module.run(full=not quick):
            print(f"  {line}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
