"""`contrib/validate.py` is the gate's first part and nothing else: same findings, bare Python, every fault at once (F2)."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from benchpipe.contributions.checking import submission_schema
from benchpipe.contributions.generate import PAGES
from benchpipe.contributions.models import PerTask, Submission
from benchpipe.contributions.schema_rules import shape_findings
from benchpipe.contributions.strict_json import Number, parse
from benchpipe_tests.conftest import REPOSITORY
from benchpipe_tests.contributions.conftest import Contribute
from benchpipe_tests.contributions.forgeries import FORGERIES, Forgery
from benchpipe_tests.contributions.honesties import HONESTIES, Honesty

SCRIPT = REPOSITORY / "contrib" / "validate.py"
EXAMPLE = REPOSITORY / "contrib" / "example-submission.json"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    """The script as a module of its own, with nothing of ours in it."""
    spec = importlib.util.spec_from_file_location("validate_script", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    assert not [line for line in SCRIPT.read_text().splitlines() if line.startswith(("from benchpipe", "import benchpipe"))]
    return module


@pytest.mark.parametrize("page", [name for name, _ in PAGES])
def test_generated_files_are_what_the_code_says(page: str) -> None:
    assert (REPOSITORY / page).read_text(encoding="utf-8") == dict(PAGES)[page](), "run: benchpipe docs"


@pytest.mark.parametrize("case", [*FORGERIES, *HONESTIES], ids=lambda case: case.name)
def test_validator_and_gate_agree_on_the_file(case: Forgery | Honesty, contribute: Contribute, script: ModuleType) -> None:
    contribution = contribute(trials=case.trials)
    case.change(contribution)
    ours = {
        (finding.code, finding.pointer, finding.line)
        for finding in contribution.check().report.findings
        if finding.code.startswith("SUB-") and "file that is not there" not in finding.message
    }
    data = contribution.file.read_bytes()
    _, findings = script.document_findings(data, contribution.file.as_posix(), json.loads(script.SCHEMA))
    assert {(f.code, f.pointer, f.line) for f in findings} == ours


def run(*arguments: str | Path, python: str = sys.executable, cwd: Path = REPOSITORY) -> subprocess.CompletedProcess[str]:
    command = [python, "-I", str(SCRIPT), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, env={"LC_ALL": "C"}, check=False)


def test_exit_codes_are_zero_one_and_two(tmp_path: Path) -> None:
    assert run("contrib/example-submission.json").returncode == 0
    assert run(tmp_path / "nothing.json").returncode == 2
    assert run().returncode == 2
    (tmp_path / "a.json").write_text("{}")
    assert run(tmp_path / "a.json").returncode == 1


def test_all_faults_are_told_at_once_with_line_and_fix(tmp_path: Path) -> None:
    doc = json.loads(EXAMPLE.read_text())
    del doc["runs"][0]["n_tasks"]
    doc["runs"][1]["score"] = "0.7"
    doc["credit"]["contact"] = "ada-at-home-77"
    doc["config"]["rounds"] = 4
    file = tmp_path / "s.json"
    file.write_text(json.dumps(doc, indent=1))
    done = run(file)
    for code, pointer, fix in (
        ("SUB-003", "/runs/0", "Add it (integer)"),
        ("SUB-005", "/runs/1/score", "Write: mean over the pool's tasks"),
        ("SUB-012", "/config/rounds", "Make them equal."),
        ("SUB-015", "/runs/1/round", "Mend the round"),
        ("SUB-021", "/credit/contact", "privately"),
    ):
        line = next(line for line in done.stdout.splitlines() if code in line)
        assert f" {pointer} " in line
        assert fix in line
        number = int(line.split(".json:")[1].split()[0])
        assert pointer.rsplit("/", 1)[1] in file.read_text().splitlines()[number - 1] or pointer == "/runs/0"
    assert "ada-at-home-77" not in done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == f"{file}: 5 error(s), 0 warning(s)"


@pytest.mark.parametrize("version", ["3.12.1", "3.13.0"])
def test_the_validator_runs_on_other_pythons(version: str) -> None:
    python = Path.home() / ".pyenv" / "versions" / version / "bin" / "python"
    if not python.exists():
        pytest.skip(f"no Python {version} of pyenv")
    assert run("contrib/example-submission.json", python=str(python)).returncode == 0


def test_the_validator_imports_nothing_but_the_standard_library() -> None:
    code = f"import sys, runpy; sys.argv=['v','-h']\ntry: runpy.run_path({str(SCRIPT)!r}, run_name='__main__')\n"
    code += "except SystemExit: pass\n"
    code += "print(sorted({m.partition('.')[0] for m in sys.modules} - sys.stdlib_module_names - {'__main__'}))"
    done = subprocess.run([sys.executable, "-IS", "-c", code], capture_output=True, text=True, cwd=REPOSITORY, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def valid(doc: Any) -> tuple[bool, bool, bool]:
    """(interpreter, pydantic, jsonschema) on one document."""
    ours = not shape_findings(doc, submission_schema())
    try:
        Submission.model_validate(doc)
        theirs = True
    except ValidationError:
        theirs = False
    return ours, theirs, _draft(doc)


def _draft(doc: Any) -> bool:
    checker = jsonschema.Draft202012Validator.TYPE_CHECKER.redefine(
        "integer", lambda _, v: isinstance(v, int) and not isinstance(v, bool)
    )
    checker = checker.redefine("number", lambda _, v: isinstance(v, int | Number) and not isinstance(v, bool))
    validator = jsonschema.validators.extend(jsonschema.Draft202012Validator, type_checker=checker)
    return validator(submission_schema()).is_valid(doc)


VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 300),
    st.sampled_from(["", "a", "all", "0" * 40, "https://example.org/x", "loop@1", "x" * 500]),
    st.floats(-1, 2, allow_nan=False).map(lambda number: Number(f"{number:.3f}")), st.just([]), st.just({}), st.just({"x_a": 1}),
)  # fmt: skip


@st.composite
def changed_examples(draw: st.DrawFn) -> Any:
    """The example with one to three values replaced, removed or added anywhere."""
    doc = parse(EXAMPLE.read_text())
    for _ in range(draw(st.integers(1, 3))):
        place, parent = doc, doc
        while isinstance(place, dict | list) and place and draw(st.booleans()):
            parent = place
            place = draw(st.sampled_from(list(place.values()) if isinstance(place, dict) else place))
        if isinstance(parent, dict) and parent:
            key = draw(st.sampled_from([*parent, "new", "x_new"]))
            if draw(st.booleans()):
                parent[key] = draw(VALUES)
            else:
                parent.pop(key, None)
    return doc


@settings(max_examples=300, deadline=None)
@given(changed_examples())
def test_schema_models_and_interpreter_accept_the_same(doc: Any) -> None:
    ours, theirs, drafts = valid(doc)
    assert ours == theirs == drafts


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(submission_schema())
    jsonschema.Draft202012Validator.check_schema(PerTask.model_json_schema())


def test_every_field_of_the_page_is_in_the_schema(shared: Path) -> None:
    page = json.loads((shared / "samples" / "harnessgrad" / "submission.page-example.json").read_text())
    schema = submission_schema()

    def walk(value: Any, shape: Any, where: str) -> None:
        while "$ref" in shape or "anyOf" in shape:
            shape = schema["$defs"][shape["$ref"].rpartition("/")[2]] if "$ref" in shape else shape["anyOf"][0]
        if isinstance(value, dict):
            for key, item in value.items():
                assert key in shape["properties"], f"{where}.{key}"
                walk(item, shape["properties"][key], f"{where}.{key}")
        elif isinstance(value, list):
            for item in value:
                walk(item, shape["items"], where)

    walk(page, schema, "")


def test_the_example_is_verified_by_the_whole_gate() -> None:
    from datetime import date

    from benchpipe.contributions.checking import check_submission
    from benchpipe.lab import Lab
    from benchpipe.registry.load import load_registry

    lab = Lab(REPOSITORY)
    for file in (EXAMPLE, REPOSITORY / "contrib/results/deskwork/skill-search/rules.json"):
        assert check_submission(file, lab, load_registry(lab).benchmarks, today=date(2026, 11, 30)).report.verdict == "verified"
    other = REPOSITORY / "contrib/results/deskwork/first-come/rules.json"
    assert check_submission(other, lab, load_registry(lab).benchmarks, today=date(2026, 11, 30)).report.verdict == "unverified"


def said_of(script: ModuleType, doc: Any, tmp_path: Path) -> list[str]:
    """Lines of the validator on a changed example, without the last."""
    file = tmp_path / "s.json"
    file.write_text(doc if isinstance(doc, str) else json.dumps(doc))
    lines, _ = script.validate(file, json.loads(script.SCHEMA))
    return lines[:-1]


def test_a_status_is_only_asked_to_be_removed(script: ModuleType, tmp_path: Path) -> None:
    (said,) = said_of(script, {**json.loads(EXAMPLE.read_text()), "status": {"verified": True}}, tmp_path)
    assert said.startswith("ERROR SUB-020")


def test_what_is_missing_is_said_once(script: ModuleType, tmp_path: Path) -> None:
    doc = {key: value for key, value in json.loads(EXAMPLE.read_text()).items() if key != "config"}
    (said,) = said_of(script, doc, tmp_path)
    assert said.startswith("ERROR SUB-003")


def test_a_placeholder_is_quoted(script: ModuleType, tmp_path: Path) -> None:
    doc = json.loads(EXAMPLE.read_text())
    doc["credit"]["affiliation"] = "University of <city>"
    (said,) = said_of(script, doc, tmp_path)
    assert "credit.affiliation holds <city>, which is no value but a placeholder." in said


def test_the_usual_cause_of_what_is_no_json_is_said(script: ModuleType, tmp_path: Path) -> None:
    (said,) = said_of(script, '{"a": 1,\n}', tmp_path)
    assert "a comma after the last entry, single quotes or a comment?" in said
