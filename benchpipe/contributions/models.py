"""The submission file and the per-task file as typed models (contributions 3 and 4): the one place where fields are declared.

`contrib/submission.schema.json`, the tables in `docs/` and the validator are generated from here. The models hold shapes
only; rules between fields are in `file_rules.py`, rules against other files in the gate.
"""

from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema, model_validator

PER_TASK_SCHEMA = "benchpipe.per_task.v1"
SELECTIONS = ("last", "fixed_in_advance", "nominated_by_method", "best_on_study", "best_on_reported", "unknown")

ID = r"^[a-z0-9][a-z0-9_-]*$"
SLUG = r"^[a-z0-9][a-z0-9._-]*$"
VERSIONED = r"^[^@\s]+@[^@\s]+$"
HEX_40_OR_64 = r"^(?:[0-9a-f]{40}|[0-9a-f]{64})$"
HTTPS = r"^https://[^\s/]+\S*$"
LINK = r"^https?://[^\s/]+\S*$"
SAMPLING = r"^(?:all|below_[0-9]*\.?[0-9]+|above_[0-9]*\.?[0-9]+|random_[1-9][0-9]*)$"


def _decimal(value: Any) -> Any:
    return Decimal(value) if isinstance(value, int) and not isinstance(value, bool) else value


Number = Annotated[Decimal, BeforeValidator(_decimal)]
AnyNumber = Annotated[Number, WithJsonSchema({"type": "number"})]
Score = Annotated[Number, Field(ge=0, le=1), WithJsonSchema({"type": "number", "minimum": 0, "maximum": 1})]
Count = Annotated[int, Field(ge=0, le=10**9)]
"""A number of things; larger ones fit in no table."""
NotNegative = Annotated[Number, Field(ge=0), WithJsonSchema({"type": "number", "minimum": 0})]


class Part(BaseModel):
    """An object of a contributed file: no unknown keys, except those that begin with `x_`, which are left aside."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        json_schema_extra={"patternProperties": {"^x_": {}}},
        use_attribute_docstrings=True,
    )

    @model_validator(mode="before")
    @classmethod
    def _leave_x_aside(cls, value: Any) -> Any:
        if isinstance(value, dict):
            return {key: item for key, item in value.items() if not (isinstance(key, str) and key.startswith("x_"))}
        return value


class TaskAgent(Part):
    """What is being improved: base harness, model, decoding."""

    base_harness: str = Field(pattern=VERSIONED)
    """`name@version` of the harness's manifest, e.g. loop@0.2.0"""
    model: str = Field(min_length=1, max_length=200)
    """the model that drives the harness; equal to config.model"""
    decoding: str = Field(min_length=1, max_length=200)
    """in words, e.g. greedy (temperature=0); a temperature named here equals config.temperature"""


class Improver(Part):
    """What did the improving: method, its model, the tool it ran under."""

    method: str = Field(pattern=VERSIONED)
    """`name@version`; the name equals method.name"""
    model: str = Field(min_length=1, max_length=200)
    """the model the improver itself used; none for a method of rules only"""
    harness: str = Field(min_length=1, max_length=200)
    """the tool the improver ran under, in words"""
    rounds: Count
    """rounds of improvement; equal to config.rounds"""


class Method(Part):
    """The method's name and where to read about it."""

    name: str = Field(pattern=SLUG, max_length=64)
    """lower-case letters, digits, '.', '_', '-'; equal to the folder's name"""
    paper: str | None = Field(default=None, pattern=HTTPS)
    """https address of a paper, or null"""
    code: str | None = Field(default=None, pattern=HTTPS)
    """https address of the code, or null"""


class Platform(Part):
    """The platform that measured."""

    commit: str = Field(pattern=r"^[0-9a-f]{7,40}$")
    """commit of the platform's repository, 40 hex characters"""
    content_sha: str = Field(pattern=HEX_40_OR_64)
    """content identity of the platform as run_meta.json records it, 40 or 64 hex characters"""


class Run(Part):
    """One measurement of one state of the harness on one pool."""

    run_id: str = Field(pattern=r"^[^\s/]+$", max_length=200)
    """your id of the run, without spaces and slashes"""
    harness_sha: str = Field(pattern=HEX_40_OR_64)
    """git tree id of the measured harness directory, full length"""
    round: Count
    """0 is the unmodified base harness (H0)"""
    score: Score
    """mean over the pool's tasks, 0 to 1"""
    n_tasks: int = Field(ge=1, le=10**9)
    """number of tasks measured: the size of the pool"""
    n_invalid: int = Field(ge=0)
    """tasks that could not be measured; 0 to be published as verified"""
    n_harness_failed: int | None = Field(default=None, ge=0)
    """tasks whose harness left no trace; taken from the per-task file when absent"""
    per_task: str = Field(min_length=1)
    """path of the per-task file, relative to contrib/"""
    pool: str | None = Field(default=None, pattern=ID)
    """id of the pool that was measured; guessed from the task ids when absent"""
    selection: Literal["last", "fixed_in_advance", "nominated_by_method", "best_on_study", "best_on_reported", "unknown"] = (
        "unknown"
    )
    """how this round was chosen"""


class Config(Part):
    """The conditions of the measurement, compared with what the run recorded."""

    study_ids: str = Field(min_length=1, max_length=200)
    """file name of the list of tasks that the method was allowed to study"""
    study_ids_sha256: str | None = Field(default=None, pattern=r"^[0-9a-f]{64}$")
    """sha256 of that list: one id per line, sorted, final newline"""
    rounds: Count
    """rounds of improvement"""
    jobs: int = Field(ge=1)
    """tasks measured at the same time"""
    slots: int | None = Field(default=None, ge=1)
    """parallel capacity of the model server"""
    sampling: str = Field(pattern=SAMPLING)
    """all, below_<x>, above_<x> or random_<n>"""
    trials: int = Field(ge=1, le=10**9)
    """measurements of each task"""
    endpoint: str | None = Field(default=None, max_length=400)
    """address of the model server; its host is never shown"""
    model: str = Field(min_length=1, max_length=200)
    """equal to task_agent.model"""
    temperature: NotNegative | None
    """a number from 0, or null"""
    seed: int | str | None
    """null = not fixed"""


class Mirror(Part):
    """The platform's copy of the trajectories; written by the platform only (15.4)."""

    location: str = Field(pattern=HTTPS)
    """address of the copy"""
    repository: str
    """dataset repository that holds it"""
    revision: str
    """revision of that repository"""
    path: str
    """path inside it"""
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    """hash of the copy as read back"""
    bytes: int = Field(ge=1)
    """its size"""
    mirrored_at: str
    """UTC time of the copy"""


class Trajectories(Part):
    """Where the trajectories lie."""

    location: str = Field(pattern=HTTPS)
    """https address under your control"""
    format: str = Field(min_length=1, max_length=200)
    """one JSONL per task, one record per step"""
    bytes: int = Field(ge=1)
    """size of the archive"""
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    """sha256 of the archive, 64 hex characters"""
    mirror: Mirror | None = None
    """written by the platform only"""


class Pair(Part):
    """One thing submitted."""

    dataset: str = Field(min_length=1, max_length=200)
    """benchmark"""
    method: str = Field(min_length=1, max_length=200)
    """method"""


class Credit(Part):
    """Who is to be named, and how."""

    name: str = Field(min_length=1, max_length=200)
    """shown as written"""
    affiliation: str | None = Field(default=None, max_length=200)
    """shown in parentheses after the name"""
    link: str | None = Field(default=None, pattern=LINK)
    """http(s) address"""
    submitted: list[Pair] = Field(min_length=1)
    """what you submitted, with this file's own pair"""
    acknowledge_in_report: bool = False
    """true = you may be named in the technical report"""
    contact: str | None = None
    """leave it out: this file becomes public; send it privately to the maintainers"""


class Artifacts(Part):
    """Where harness trees and run records lie; without it State and Config can't be checked."""

    run_meta: str | None = Field(default=None, min_length=1)
    """path of a scrubbed run_meta.json beside the per-task file"""
    curve: str | None = Field(default=None, min_length=1)
    """path of a curve.jsonl"""
    dataset_path: str | None = Field(default=None, min_length=1)
    """Experiments/<benchmark>/<task-agent>/<family>/<method>"""
    dataset_revision: str | None = Field(default=None, pattern=r"^[0-9a-f]{40}$")
    """revision of the dataset repository, 40 hex characters"""


class Reason(Part):
    """Why a row is not verified."""

    code: str
    """code of the finding"""
    message: str
    """its message"""


class Status(Part):
    """The verdict as it was at the merge; written by the platform only (3.11)."""

    verified: bool
    """every check passed"""
    mirrored: bool
    """the trajectories were copied"""
    reasons: list[Reason]
    """why not verified"""
    reference: str | None = None
    """row id of the H0 that was used; null = no reference"""
    checked_at: str
    """UTC time"""
    checker: str
    """benchpipe@<version>"""
    input_sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    """hash of the contributor's bytes that were checked"""


class Submission(Part):
    """One JSON file at contrib/results/<dataset>/<method>/<variant>.json."""

    model_config = ConfigDict(title="benchpipe submission")

    schema_: Literal["harnessgrad.submission.v1", "benchpipe.submission.v1"] = Field(alias="schema")
    """harnessgrad.submission.v1"""
    dataset: str = Field(pattern=ID, max_length=64)
    """id of a registered benchmark; equal to the folder's name"""
    task_agent: TaskAgent
    """what is being improved"""
    improver: Improver | None
    """what did the improving; null if only H0 was measured"""
    method: Method
    """the method's name and where to read about it"""
    variant: str = Field(pattern=SLUG, max_length=64)
    """short label of this submission: lower-case letters, digits, '.', '_', '-'; equal to the file's stem"""
    platform: Platform
    """the platform that measured"""
    runs: list[Run] = Field(min_length=1)
    """the measurements"""
    config: Config
    """the conditions of the measurement"""
    trajectories: Trajectories | None = None
    """where the trajectories lie; may be left out"""
    credit: Credit
    """who is to be named"""
    artifacts: Artifacts | None = None
    """where harness trees and run records lie"""
    status: Status | None = None
    """written by the platform only"""


class TaskEntry(Part):
    """One task's result."""

    score: AnyNumber
    """mean over this task's trials, 0 to 1"""
    trials: list[AnyNumber] | None = None
    """one score per trial that was measured; wanted if trials > 1"""
    std: NotNegative | None = None
    """population standard deviation of the trials"""
    kind: str | None = None
    """verifier kind: answer or command"""
    detail: str | None = Field(default=None, max_length=2000)
    """the check's own words"""


class Invalid(Part):
    """Why a task could not be measured."""

    stage: str
    """start, health, died, harness model call or check"""
    service: str | None = None
    """service of the task's environment"""
    detail: str
    """what happened"""


class HarnessFailed(Part):
    """A task that was scored although its harness left no trace."""

    exit_code: int | None
    """exit code of the harness"""
    stderr: str
    """end of its standard error"""


class PerTask(Part):
    """The per-task file of one run, canonical form (contributions 4)."""

    schema_: Literal["benchpipe.per_task.v1"] = Field(alias="schema")
    """benchpipe.per_task.v1"""
    dataset: str
    """as in the submission"""
    pool: str
    """as in the submission"""
    run_id: str
    """as in the submission"""
    harness_sha: str
    """as in the submission"""
    round: int
    """as in the submission"""
    trials: int
    """as in the submission"""
    score_kind: Literal["exam", "training"]
    """training = the method studied these tasks"""
    tasks: dict[str, TaskEntry]
    """task id → result; tasks that could not be measured are absent"""
    invalid: dict[str, Invalid]
    """task id → why it could not be measured"""
    harness_failed: dict[str, HarnessFailed]
    """task id → what the harness left instead of a trace"""
