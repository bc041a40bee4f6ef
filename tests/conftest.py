"""Shared fixtures and strategies."""

import os
from pathlib import Path

# One BLAS thread a worker: the matrices are small, and two workers share two cores.
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

# Checks have time limits; what is decided must not depend on how busy or slow the machine is.
os.environ.setdefault("BOUNDLAB_PATIENCE", "20")

import hypothesis
import pytest

# make nightly asks for more examples of every property that names no number of its own.
_EXAMPLES = int(os.environ.get("BOUNDLAB_EXAMPLES", "30"))
hypothesis.settings.register_profile("boundlab", deadline=None, derandomize=True, max_examples=_EXAMPLES)
hypothesis.settings.load_profile("boundlab")


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of real data sets that are not bundled."""
    where = os.environ.get("BOUNDLAB_DATA")
    if not where:
        pytest.skip("BOUNDLAB_DATA is not set: MNIST and a9a are not bundled")
    return Path(where)
