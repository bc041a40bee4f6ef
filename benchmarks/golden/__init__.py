"""Recorded answers: thousands of command lines and what they answered, which no rewrite may change without a word."""

import os

# Before anything counts threads or looks for time limits: answers depend on neither.
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
os.environ.update(BOUNDLAB_PATIENCE="20", BOUNDLAB_CACHE="0")
os.environ.pop("BOUNDLAB_PLUGINS", None)
