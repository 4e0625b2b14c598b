"""What `benchpipe runs` tells a person besides its last line."""

import pytest

from benchpipe.cli.runs import tell_problems_found


def test_what_could_not_be_read_is_told_on_stderr_with_its_asset(capsys: pytest.CaptureFixture[str]) -> None:
    built = {
        "run_states[b]": {"n_problems": 2, "problems": "- gpu1: j/t: result.json is empty\n- gpu1: j: cut"},
        "cost_estimates[b]": {"n": 1},
    }
    built |= {"agent_registry": {"problems": "- a.yml:1: no label"}}
    tell_problems_found(built)
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == "run_states[b]: gpu1: j/t: result.json is empty\nrun_states[b]: gpu1: j: cut\n"
