"""The one-shot publication (runs-system 17): every step in order, each a gate that stops with one line and why.

Plain functions and git; what other floors do (collecting, checking, building) comes in as steps. Git is never forced, and
nothing but the snapshot is committed. A release that stops leaves the checkout as it was; media that went up stay, and are
found there by the next one.
"""

import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import msgspec

from benchpipe.errors import BenchpipeError, FoundProblems, UsageError
from benchpipe.files import lock, write_bytes
from benchpipe.lab import Lab
from benchpipe.publish.media.bring import bring_media
from benchpipe.publish.media.export import named_media
from benchpipe.publish.media.stores import Store, StoreError
from benchpipe.publish.published import RunLine, read_summary
from benchpipe.publish.snapshot import publish
from benchpipe.registry.records import Registry

BRANCH = "main"
VIDEOS_AT_ONCE, IMAGES_AT_ONCE = 4, 8

Say = Callable[[str], None]


class Steps(NamedTuple):
    """What the release needs from above: each raises BenchpipeError where it finds something. `store`: where media go."""

    collect: Callable[[], None]
    check: Callable[[], None]
    build_public: Callable[[], None]
    store: Callable[[], Store]


class Released(msgspec.Struct, frozen=True, kw_only=True):
    """How a release ended. `commit`: the new commit's id, None if the snapshot did not change."""

    commit: str | None
    pushed: bool
    message: str


def release(lab: Lab, registry: Registry, steps: Steps, *, push: bool, now: datetime, say: Say) -> Released:
    """Collect, publish, upload, check, commit, push. FoundProblems names the gate that stopped it.

    LockHeld while another release runs. What was said lies in `.cache/publish.log`.
    """
    with lock(lab.lock_file("release")), _logged(lab, say) as told:
        return _release(lab, registry, steps, push=push, now=now, say=told)


def _release(lab: Lab, registry: Registry, steps: Steps, *, push: bool, now: datetime, say: Say) -> Released:
    root, snapshot = lab.root, lab.relative(lab.published)
    say("on branch main, nothing foreign in the snapshot")
    with _gate("branch"):
        _on_branch(root)
    with _gate("foreign changes"):
        _nothing_changed_below(root, snapshot)
    say("collecting")
    with _gate("collect"):
        steps.collect()
    before = _lines(lab)
    try:
        say("publishing the snapshot")
        with _gate("snapshot"):
            _publish(lab, registry, now)
        changed = bool(_git(root, "status", "--porcelain", "--untracked-files=all", "--", snapshot))
        if changed:
            say("uploading media")
            with _gate("media"):
                _upload(lab, registry, steps, say)
            for name, step in (("check", steps.check), ("public build", steps.build_public), ("check again", steps.check)):
                say(name)
                with _gate(name):
                    step()
            message = commit_message(before, _lines(lab))
            with _gate("commit"):
                _git(root, "add", "--", snapshot)
                _git(root, "commit", "--quiet", "--message", message, "--", snapshot)
    except BaseException:
        _restore(root, snapshot)
        raise
    if not changed and not (push and _unpushed(root, snapshot)):
        return Released(commit=None, pushed=False, message="nothing has changed since the last publication")
    commit = _git(root, "rev-parse", "HEAD")
    if not push:
        return Released(commit=commit, pushed=False, message="committed; not pushed (--no-push)")
    say("pushing")
    with _gate("push"):
        _push(root)
    return Released(commit=commit, pushed=True, message="published")


def commit_message(before: Mapping[tuple[str, str], RunLine], after: Mapping[tuple[str, str], RunLine]) -> str:
    """Counts per benchmark and what became of them."""
    lines = []
    for benchmark in sorted({key[0] for key in (*before, *after)}):
        (tasks, logs), (old_tasks, old_logs) = _sums(after, benchmark), _sums(before, benchmark)
        lines.append(f"{benchmark}: {tasks} tasks ({tasks - old_tasks:+}), {logs} logs ({logs - old_logs:+})")
    _, logs = _sums(after)
    return f"Publish runs: {logs} logs ({logs - _sums(before)[1]:+})\n\n" + "\n".join(lines)


def _sums(lines: Mapping[tuple[str, str], RunLine], benchmark: str | None = None) -> tuple[int, int]:
    own = [line for key, line in lines.items() if benchmark in (None, key[0])]
    return sum(line.tasks for line in own), sum(line.logs for line in own)


def _lines(lab: Lab) -> dict[tuple[str, str], RunLine]:
    summary = read_summary(lab.published)
    return {(line.benchmark, line.run): line for line in summary.runs} if summary else {}


def _publish(lab: Lab, registry: Registry, now: datetime) -> None:
    report = publish(lab, registry, strict=True, now=now)
    if report.quarantined:
        raise FoundProblems(f"the scan found something in {'; '.join(str(one) for one in report.quarantined)}")


def _upload(lab: Lab, registry: Registry, steps: Steps, say: Say) -> None:
    """Media go before the pages that name them."""
    with_media = sorted({one.address.partition("/")[0] for one in named_media(lab)})
    if not with_media:
        return
    store = steps.store()
    for benchmark in with_media:

        def told(done: int, n: int, what: str, benchmark: str = benchmark) -> None:
            say(f"{benchmark}: {done} of {n}: {what}")

        try:
            done = bring_media(lab, registry, benchmark, store, jobs=VIDEOS_AT_ONCE, image_jobs=IMAGES_AT_ONCE, on_progress=told)
        except StoreError as error:
            raise FoundProblems(f"{benchmark}: {error}") from error
        if done.compressed.failed:
            raise FoundProblems(f"{benchmark}: {done.compressed.failed[0]}")
        say(f"{benchmark}: {len(done.uploaded.sent)} media sent, {len(done.uploaded.deleted)} deleted")


def _on_branch(root: Path) -> None:
    if (branch := _git(root, "symbolic-ref", "--quiet", "--short", "HEAD")) != BRANCH:
        raise FoundProblems(f"this checkout is on {branch}: git switch {BRANCH}")


def _nothing_changed_below(root: Path, snapshot: str) -> None:
    changed = _git(root, "status", "--porcelain", "--untracked-files=all", "--", snapshot).splitlines()
    if changed:
        raise FoundProblems(
            f"{len(changed)} changes below {snapshot} are not committed ({changed[0].strip()}): commit or drop them"
        )


def _restore(root: Path, snapshot: str) -> None:
    """The snapshot as it was committed: it had no other changes when the release began."""
    if _git(root, "ls-files", "--", snapshot):
        _git(root, "restore", "--staged", "--worktree", "--source=HEAD", "--", snapshot)
    _git(root, "clean", "--quiet", "-fd", "--", snapshot)


def _unpushed(root: Path, snapshot: str) -> bool:
    """Whether a former release was committed and not pushed."""
    return bool(_git(root, "log", "--format=%H", "@{upstream}..HEAD", "--", snapshot))


def _push(root: Path) -> None:
    remote, _, branch = _git(root, "rev-parse", "--abbrev-ref", "@{upstream}").partition("/")
    _git(root, "fetch", "--quiet", remote, branch)
    if _git(root, "rev-list", "--max-count=1", f"HEAD..{remote}/{branch}"):
        raise FoundProblems(f"{remote}/{branch} has commits that this checkout lacks: git pull, then publish again")
    _git(root, "push", "--quiet", remote, f"HEAD:{branch}")


def _git(root: Path, *arguments: str) -> str:
    """Run git with the user's own settings and hooks. FoundProblems with its last line when it fails."""
    try:
        done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    except FileNotFoundError:
        raise UsageError("git is not installed: apt install git") from None
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise FoundProblems(f"git {arguments[0]}: {said[-1] if said else f'exit code {done.returncode}'}")
    return done.stdout.strip()


@contextmanager
def _gate(name: str) -> Iterator[None]:
    """Puts the gate's name before what stopped it."""
    try:
        yield
    except BenchpipeError as error:
        stopped = FoundProblems(f"stopped at {name}: {error}")
        stopped.exit_code = error.exit_code or 1
        raise stopped from error


@contextmanager
def _logged(lab: Lab, say: Say) -> Iterator[Say]:
    """Everything that is said goes to the log as well, and so does what stopped the release."""
    lines: list[str] = []

    def told(line: str) -> None:
        lines.append(line)
        say(line)

    try:
        yield told
    except BenchpipeError as error:
        lines.append(str(error))
        raise
    finally:
        write_bytes(lab.cache / "publish.log", "".join(f"{line}\n" for line in lines).encode())
