"""Numbers at the ends of what floats hold are evaluated or refused in one line; they never crash."""

import json
from typing import Any

import pytest

from boundlab.cli import invoke
from boundlab.formulas.symbols import SYMBOLS
from boundlab.registry import registered
from boundlab.theorems import Theorem
from boundlab.verdict import ExitCode

USUAL: dict[str, Any] = {"p": "0.2,0.3", "p_s": 0.5, "K": 5, "T": 5, "L": 1, "mu": 0.5, "beta": 0.5, "sigma": 0}
EXTREMES = ("0", "1e-300", "1e300")


@pytest.mark.sweep(18)
@pytest.mark.parametrize("theorem", registered("theorems").values(), ids=lambda theorem: theorem.id)
def test_extreme_numbers_are_evaluated_or_refused(theorem: Theorem, capsys: pytest.CaptureFixture[str]) -> None:
    for name in theorem.inputs():
        if SYMBOLS[name].vector or SYMBOLS[name].domain.integer:
            continue
        for extreme in EXTREMES:
            values = {other: USUAL.get(other, 1) for other in theorem.inputs()} | {name: extreme}
            line = [f"--set={other}={value}" for other, value in values.items()]
            code = invoke(["eval", theorem.id, *line, "--json"])
            out, err = capsys.readouterr()
            assert code in (ExitCode.STANDS, ExitCode.USAGE, ExitCode.NOT_APPLICABLE), err
            assert err.count("\n") == (code != ExitCode.STANDS)
            assert code != ExitCode.STANDS or json.loads(out)["theorem"] == theorem.id
