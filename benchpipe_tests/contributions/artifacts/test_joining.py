"""A submission finds its dataset directory, and State and Config are checked from what lies there."""

import shutil
from datetime import date

from benchpipe.contributions.rows import results_of
from benchpipe.contributions.store import check_dataset
from benchpipe_tests.contributions.artifacts.conftest import Grow
from benchpipe_tests.contributions.conftest import Contribute

TODAY = date(2026, 11, 30)


def test_state_and_config_are_resolved_from_a_directory_that_nobody_named(contribute: Contribute, grow: Grow) -> None:
    honest = contribute()
    honest.edit(lambda doc: doc.pop("artifacts"))
    shutil.rmtree(honest.lab.contrib / "Experiments")
    assert honest.check().report.checks["state"] == honest.check().report.checks["config"] == "not_run"
    shutil.copytree(grow().experiments, honest.lab.contrib / "Experiments")
    assert honest.check().report.verdict == "verified"


def test_a_directory_of_another_run_is_not_taken_on_its_name(contribute: Contribute, grow: Grow) -> None:
    honest = contribute()
    honest.edit(lambda doc: doc.pop("artifacts"))
    tree = grow()
    tree.curve(lambda points: [point.update(run_id="other") for point in points])
    shutil.rmtree(honest.lab.contrib / "Experiments")
    shutil.copytree(tree.experiments, honest.lab.contrib / "Experiments")
    assert honest.check().report.checks["state"] == "not_run"


def test_a_directory_that_comes_later_is_noticed(contribute: Contribute, grow: Grow) -> None:
    honest = contribute()
    honest.edit(lambda doc: doc.pop("artifacts"))
    shutil.rmtree(honest.lab.contrib / "Experiments")
    before = check_dataset(honest.lab, "deskwork", honest.benchmarks(), today=TODAY)
    assert check_dataset(honest.lab, "deskwork", honest.benchmarks(), today=TODAY).n_checked == 0
    shutil.copytree(grow().experiments, honest.lab.contrib / "Experiments")
    after = check_dataset(honest.lab, "deskwork", honest.benchmarks(), today=TODAY)
    assert (before.checked[0].report.verdict, after.checked[0].report.verdict) == ("unverified", "verified")


def test_the_row_names_and_links_its_data(contribute: Contribute) -> None:
    honest = contribute()
    file = honest.lab.benchmarks / "deskwork.yml"
    file.write_text(file.read_text() + "experiments: https://huggingface.co/datasets/some-lab/experiments\n")
    honest.edit(lambda doc: doc["artifacts"].update(dataset_revision="a" * 40))
    benchmarks = honest.benchmarks()
    results = results_of(check_dataset(honest.lab, "deskwork", benchmarks, today=TODAY))
    path = honest.doc["artifacts"]["dataset_path"]
    assert {row.dataset_path for row in results.verified} == {path}
    link = f"https://huggingface.co/datasets/some-lab/experiments/tree/{'a' * 40}/{path}"
    assert {row.dataset_link for row in results.verified} == {link}
