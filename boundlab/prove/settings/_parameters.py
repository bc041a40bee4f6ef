"""An algorithm's parameters."""

from typing import Any

from boundlab.options import Options


def parameters_of(algorithm: Any, options: dict[str, Any]) -> Any:
    """Return an algorithm's parameters from options."""
    return algorithm.read(Options(algorithm.id, options))
