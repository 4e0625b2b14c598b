"""The shapes of what a dataset directory says about itself: manifests, coverage file, curve records, harness.json (17.2 to 17.5).

Shapes only. Which manifest has to agree with which is said in the checks.
"""

from functools import cache
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from benchpipe.contributions.models import HEX_40_OR_64, VERSIONED, Part, Score
from benchpipe.contributions.schema_rules import shape_findings
from benchpipe.contributions.strict_json import Refused, decode, parse

TASK_AGENT, FAMILY, COVERAGE = "benchpipe.task_agent.v1", "benchpipe.family.v1", "benchpipe.coverage.v1"


class Open(BaseModel):
    """An object that may hold more than is declared here."""

    model_config = ConfigDict(extra="allow", frozen=True, strict=True, use_attribute_docstrings=True)


class Agent(Open):
    """The task agent: base harness, model, decoding."""

    base_harness: str = Field(pattern=VERSIONED)
    """`name@version` of the harness's manifest"""
    model: str = Field(min_length=1)
    """the model that drives it"""
    decoding: str = Field(min_length=1)
    """in words"""


class MetaAgent(Open):
    """What did the improving."""

    harness: str = Field(min_length=1)
    """the tool that the improver ran under; none if there was none"""
    model: str = Field(min_length=1)
    """the improver's model; none for rules only"""


class AgreedBaseline(Part):
    """The agreed round 0 of a task agent."""

    harness_sha: str = Field(pattern=HEX_40_OR_64)
    """tree id of the unmodified harness"""
    config: dict[str, Any]
    """conditions that every family's round 0 has to have"""
    per_task_sha256: str | None = Field(default=None, pattern=r"^[0-9a-f]{64}$")
    """hash of the per-task file it was measured with"""
    score: Score | None = None
    """what it scored"""


class FamilyBaseline(Part):
    """The round 0 that a family started from."""

    harness_sha: str = Field(pattern=HEX_40_OR_64)
    """equal to the task agent's baseline"""
    config: dict[str, Any]
    """conditions; equal to the baseline's"""
    score: Score
    """what it scored here"""
    n_tasks: int = Field(ge=1)
    """over how many tasks"""
    pool: str
    """of which pool"""


class TaskAgentManifest(Agent):
    """`task_agent.json` in `<task-agent>/`."""

    schema_: Literal["benchpipe.task_agent.v1"] = Field(alias="schema")
    """benchpipe.task_agent.v1"""
    id: str
    """the directory's name"""
    baseline: AgreedBaseline
    """what every family's round 0 has to be"""


class FamilyManifest(Open):
    """`family.json` in `<task-agent>/<family>/`."""

    schema_: Literal["benchpipe.family.v1"] = Field(alias="schema")
    """benchpipe.family.v1"""
    id: str
    """the directory's name"""
    task_agent: Agent
    """as in task_agent.json"""
    meta_agent: MetaAgent
    """what did the improving"""
    baseline: FamilyBaseline
    """where it started"""
    methods: list[str]
    """exactly the method directories"""


class Hashes(Part):
    """sha256 of a round's files; null where there is none."""

    patch: str | None = Field(pattern=r"^[0-9a-f]{64}$")
    """of patches/round-N.patch"""
    tasks: str | None = Field(pattern=r"^[0-9a-f]{64}$")
    """of tasks/round-N.tar.gz"""


class CoverageEntry(Part):
    """What is there of one round."""

    task_agent: str
    """directory"""
    family: str
    """directory"""
    method: str
    """directory"""
    round: int = Field(ge=0)
    """round"""
    harness: bool
    """harness/round-N/ is there"""
    patch: bool
    """patches/round-N.patch is there"""
    tasks: bool
    """tasks/round-N.tar.gz is there"""
    n_task_files: int = Field(ge=0)
    """files in that archive"""
    bytes: int = Field(ge=0)
    """size of everything of the round: tree, patch, archive"""
    sha256: Hashes
    """hashes"""


class Coverage(Part):
    """`coverage.json` in `Experiments/<benchmark>/`."""

    schema_: Literal["benchpipe.coverage.v1"] = Field(alias="schema")
    """benchpipe.coverage.v1"""
    generated_at: str
    """UTC time"""
    entries: list[CoverageEntry]
    """sorted by task agent, family, method, round"""


class PointIdentity(Open):
    """Which state was measured."""

    harness_sha: str = Field(pattern=HEX_40_OR_64)
    """tree id of the measured harness"""


class CurveRecord(Open):
    """One line of `curve.jsonl` in its dataset form (17.4)."""

    round: int = Field(ge=0)
    """0 is the baseline"""
    score: Score
    """mean over the pool's tasks"""
    per_task: dict[str, Any]
    """task id → number, or {score: number}"""
    n_invalid: int = Field(ge=0)
    """tasks that could not be measured"""
    n_harness_failed: int = Field(ge=0)
    """tasks without a trace"""
    identity: PointIdentity
    """which state"""
    task_agent: Agent
    """as in task_agent.json"""
    meta_agent: MetaAgent
    """as in family.json"""
    config: dict[str, Any]
    """conditions"""
    pool: str
    """declared task set"""


class HarnessManifest(Open):
    """`harness.json` of a harness."""

    name: str = Field(min_length=1)
    """does not change"""
    version: str = Field(min_length=1)
    """does not change"""
    entrypoint: str = Field(min_length=1)
    """a file of the tree"""
    env_kinds: list[str] = Field(default=["files"])
    """never wider than the base harness's"""
    role: str = "harness"
    """does not change; control never becomes a row"""


MANIFESTS = (TaskAgentManifest, FamilyManifest, Coverage, CurveRecord, HarnessManifest)


@cache
def _schema(model: type[BaseModel]) -> dict[str, Any]:
    return model.model_json_schema()


def faults(value: Any, model: type[BaseModel]) -> list[str]:
    """What is wrong with a parsed value's shape, in sentences."""
    return [finding.message.rstrip(".") for finding in shape_findings(value, _schema(model))]


def read(data: bytes, model: type[BaseModel]) -> dict[str, Any]:
    """A manifest's bytes as a checked object. Refused, with every fault, if it is none."""
    value = parse(decode(data))
    if found := faults(value, model):
        raise Refused([(None, "", fault) for fault in found])
    return dict(value)
