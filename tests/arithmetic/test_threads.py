"""BLAS is kept to one thread, and its libraries are looked for again only where modules were loaded."""

import pytest

from boundlab.arithmetic.compiled import _controller, one_thread
from boundlab.case import build_problem

threadpoolctl = pytest.importorskip("threadpoolctl")


def test_libraries_are_looked_for_once_however_many_problems_are_built(monkeypatch: pytest.MonkeyPatch) -> None:
    make, made = threadpoolctl.ThreadpoolController, []

    def counted(*words: object, **more: object) -> object:
        made.append(1)
        return make(*words, **more)

    build_problem("least-squares", {"clients": 2, "data": "diabetes"}).constants()  # all modules are loaded
    _controller.cache_clear()
    for name in ("ThreadpoolController", "threadpool_limits"):
        monkeypatch.setattr(threadpoolctl, name, counted)
    for seed in range(3):
        build_problem("least-squares", {"clients": 2, "data": "diabetes", "seed": seed}).constants()
    _controller.cache_clear()
    assert made == [1]


def test_inside_there_is_one_thread_and_outside_as_many_as_before() -> None:
    def threads() -> list[int]:
        return [one["num_threads"] for one in threadpoolctl.threadpool_info() if one["user_api"] == "blas"]

    before = threads()
    with one_thread():
        assert set(threads()) == {1}
        with one_thread():
            pass
        assert set(threads()) == {1}
    assert threads() == before
