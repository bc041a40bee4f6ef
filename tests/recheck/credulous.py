"""A plug-in of pytest: the kernel writes down what it refuses, and the second checker is asked of it.

Inside of one ``pytest.raises(ProofError)`` of each test no rule of :mod:`boundlab.prove` refuses anything: it goes on,
and makes the fact. The proof is then written as a file, with its wrong line, and read by :mod:`boundlab.recheck`.
"""

import ast
import builtins
import json
import os
import sys
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

BLOCKS = 4  # refusals of a test that are looked at, one run of the test for each
STATE = SimpleNamespace(credulous=False, refusals=[], kernel=None, setting=None, block=0, seen=0, found=[], test="")
strict = pytest.raises


class Credulous(ast.NodeTransformer):
    """Makes of each ``raise ProofError(…)`` a call that goes on where nothing is refused."""

    def visit_Raise(self, node: ast.Raise) -> ast.stmt:
        match node.exc:
            case ast.Call(func=ast.Name(id="ProofError")):
                call = ast.Call(ast.Name("_refuse", ast.Load()), [node.exc], [])
                return ast.copy_location(ast.Expr(call), node)
        return node


class Loader(SourceFileLoader):
    """Reads a module of the kernel so."""

    def get_code(self, fullname: str) -> Any:
        tree = ast.parse(self.get_data(self.path))
        return compile(ast.fix_missing_locations(Credulous().visit(tree)), self.path, "exec")


class Finder:
    """Finds the modules that are read so."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path, target) if name.startswith("boundlab.prove") else None
        if spec is not None and spec.origin is not None and spec.origin.endswith(".py"):
            spec.loader = Loader(name, spec.origin)
        return spec


def refuse(error: Exception) -> None:
    if not STATE.credulous:
        raise error
    STATE.refusals.append(str(error))


builtins._refuse = refuse  # type: ignore[attr-defined]
sys.meta_path.insert(0, Finder)  # type: ignore[arg-type]


class Written:
    """In place of ``pytest.raises``: what is refused there is made, written as a file and read."""

    def __init__(self, arguments: Any, options: Any) -> None:
        self.own = None if STATE.seen == STATE.block else strict(*arguments, **options)
        STATE.seen += 1

    def __enter__(self) -> Any:
        if self.own is not None:
            return self.own.__enter__()
        self.before = file_of()
        STATE.credulous, STATE.refusals = True, []
        return SimpleNamespace(value="")

    def __exit__(self, kind: Any, error: Any, trace: Any) -> Any:
        if self.own is not None:
            return self.own.__exit__(kind, error, trace)
        after = None if error is not None else file_of()
        STATE.credulous = False
        row = {"test": STATE.test, "refused by the kernel": STATE.refusals[:1], "written": False}
        if after is not None and after != self.before:
            row |= {"written": True, "right before": self.before is None or accepted(self.before)[0]}
            row["accepted"], row["why"] = accepted(after)

        STATE.found.append(row)
        pytest.skip("what it refuses was read")


def raises(*arguments: Any, **options: Any) -> Any:
    expected = arguments[0] if isinstance(arguments[0], tuple) else (arguments[0],)
    if any(one.__name__ == "ProofError" for one in expected):
        return Written(arguments, options)
    return strict(*arguments, **options)


pytest.raises = raises  # type: ignore[assignment]


def file_of() -> Any:
    """Return the file of all facts that the kernel of the test has made; None where it cannot be written."""
    from boundlab.prove.trace import trace

    kernel = STATE.kernel
    if kernel is None:
        return None
    steps = [SimpleNamespace(name="", status=SimpleNamespace(value="remark"), fact=one) for one in kernel.facts]
    setting = STATE.setting if STATE.setting is not None and STATE.setting.kernel is kernel else None
    try:
        found = trace(SimpleNamespace(kernel=kernel, setting=setting, script=SimpleNamespace(id="wrong"), steps=steps))  # type: ignore[arg-type]
        return json.loads(json.dumps({**found, "steps": []}))
    except Exception:  # what no file holds is no line
        return None


def accepted(raw: Any) -> tuple[bool, str]:
    """Return whether the second checker finds no fault, but for what only a theorem's setting answers for."""
    from boundlab.recheck import recheck_loaded

    found = recheck_loaded(raw)
    return found.right and not found.left and not found.trusted, found.reason


def pytest_configure() -> None:
    from boundlab.prove import Kernel, scalar
    from boundlab.prove.setting import Setting
    from boundlab.signs import SignProof

    def needed(self: Any, value: Any, *more: Any, _own: Any = Kernel.need, **options: Any) -> Any:
        found = _own(self, value, *more, **options)
        return found if found is not None else (SignProof.BY_CERTIFICATE, scalar(value).names(), [])

    Kernel.need = needed  # type: ignore[method-assign]
    for own, which in ((Kernel, "kernel"), (Setting, "setting")):

        def remembered(self: Any, *arguments: Any, _own: Any = own.__init__, _which: str = which) -> None:
            setattr(STATE, _which, self)
            _own(self, *arguments)

        own.__init__ = remembered  # type: ignore[method-assign]


def pytest_generate_tests(metafunc: Any) -> None:
    metafunc.fixturenames.append("block_of_refusals")
    metafunc.parametrize("block_of_refusals", range(BLOCKS))


def pytest_runtest_setup(item: Any) -> None:
    STATE.test, STATE.seen = item.name.split("[")[0], 0
    STATE.block = item.callspec.params["block_of_refusals"]
    STATE.kernel = STATE.setting = None


def pytest_sessionfinish() -> None:
    Path(os.environ["BOUNDLAB_WRONG_LINES"]).write_text(json.dumps(STATE.found), encoding="utf-8")
