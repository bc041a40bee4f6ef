"""What the kernel refuses in its own tests, the second checker refuses too, where a file can say it at all."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
ATTACKS = [str(HERE.parent / "prove" / name) for name in ("test_attacks.py",)]
# Refused for the sake of the kernel's own books; the file that comes of it says nothing wrong.
HARMLESS = {
    "test_a_symbol_is_declared_twice",
    "test_a_vector_is_declared_twice",
    "test_one_name_means_two_things_in_two_cases",
    "test_a_fact_of_another_proof_with_other_vectors_is_used",
}


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """Return what the second checker says of each line that the kernel refuses, with its refusals off."""
    told = tmp_path_factory.mktemp("wrong") / "lines.json"
    where = os.environ | {"BOUNDLAB_WRONG_LINES": str(told), "PYTHONPATH": str(HERE)}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "credulous", *ATTACKS]
    ran = subprocess.run(command, env=where, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout[-2000:]
    found: list[dict[str, Any]] = json.loads(told.read_text(encoding="utf-8"))
    return found


def test_no_line_that_the_kernel_refuses_is_accepted(lines: list[dict[str, Any]]) -> None:
    # Some twenty seconds: the tests of the kernel, once for each of their refusals.
    written = [one for one in lines if one["written"]]
    assert len(written) >= 45
    assert all(one["right before"] for one in written)  # what is wrong is that line
    assert {one["test"] for one in written if one["accepted"]} <= HARMLESS
