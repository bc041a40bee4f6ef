"""The same proofs, of theorems along the run: each uses its bounds on gradients at the points that these name."""

from dataclasses import replace

from boundlab.prove import Script
from boundlab.theorems import ALONG_RUN


def with_forms(*scripts: Script) -> tuple[Script, ...]:
    """Return proofs, and those of their theorems' forms along the run."""
    forms = (
        replace(
            one,
            id=f"{one.id}{ALONG_RUN}",
            summary=f"{one.summary}, along the run",
            proves=f"{one.proves}{ALONG_RUN}",
        )
        for one in scripts
    )
    return (*scripts, *forms)
