"""How many threads the libraries of linear algebra take."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import lru_cache
from typing import Any


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep BLAS to one thread: other numbers of threads round otherwise."""
    controller = _controller(len(sys.modules))
    with nullcontext() if controller is None else controller.limit(limits=1, user_api="blas"):
        yield


@lru_cache(maxsize=1)
def _controller(_modules: int) -> Any:
    """Return what limits the threads of the libraries that are loaded, looked for again when modules were loaded."""
    try:
        from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped, unused-ignore]
    except ImportError:
        return None
    return ThreadpoolController()
