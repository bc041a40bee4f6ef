"""Message for an unforeseen exception: one line that names the place, and the plug-in if it is one."""

import traceback
from collections.abc import Mapping

from boundlab.registry import BUILT_IN, message, owners


def crash(error: BaseException) -> str:
    """Return the line: ``unforeseen KeyError in boundlab/checks/vacuity.py:56 (…)``."""
    words = message(error)
    said = f" ({words})" if words else ""
    return f"unforeseen {type(error).__name__} in {place(error)}{said}; --debug shows the traceback"


def place(error: BaseException) -> str:
    """Return the innermost place of boundlab's or a plug-in's code, and which plug-in called it.

    Frames of other libraries and of Python are passed over: they did what they were asked.
    """
    try:
        plugins = owners()
    except Exception:  # a registry that is broken itself must not hide the place
        plugins = {}
    frames = _frames(error)
    ours = [one for one in frames if _root(one[0]) == BUILT_IN or _root(one[0]) in plugins]
    if not ours:
        return f"{frames[-1][1]}:{frames[-1][2]}" if frames else "an unknown place"
    where = _words(*ours[-1], plugins)
    callers = [one for one in ours if _root(one[0]) in plugins]
    if callers and callers[-1] is not ours[-1]:
        return f"{where}, called by {_words(*callers[-1], plugins)}"
    return where


def raised_by_plugin(error: BaseException) -> bool:
    """Return whether the innermost frame of an exception is a plug-in's."""
    frames = _frames(error)
    return bool(frames) and _root(frames[-1][0]) in owners()


def _frames(error: BaseException) -> list[tuple[str, str, int]]:
    """Return module, file and line of each frame that an exception went through, the innermost last."""
    return [
        (str(frame.f_globals.get("__name__", "")), frame.f_code.co_filename, line)
        for frame, line in traceback.walk_tb(error.__traceback__)
    ]


def _root(module: str) -> str:
    return module.split(".")[0]


def _words(module: str, file: str, line: int, plugins: Mapping[str, str]) -> str:
    path = module.replace(".", "/") + ("/__init__.py" if file.endswith("__init__.py") else ".py")
    owner = plugins.get(_root(module))
    if owner is None:
        return f"{path}:{line}"
    return f"the plug-in {owner}:{line}" if owner.endswith(".py") else f"the plug-in {owner}, {path}:{line}"
