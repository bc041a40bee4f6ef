"""Where registered objects come from: entry points of installed packages, and files that the user names.

A file is named by ``boundlab --plugin FILE.py`` or by the environment variable BOUNDLAB_PLUGINS (paths with
``os.pathsep`` between them). Its ``BOUNDLAB`` maps kinds to objects. It is executed: to name it is to run it.
"""

import os
import re
import stat
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache, partial
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.metadata import Distribution, EntryPoint, entry_points
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, Literal, final, get_args
from zlib import crc32

from boundlab.arguments import checked
from boundlab.errors import BoundlabError, SpecError, shortened
from boundlab.options import nearest

Kind = Literal["theorems", "algorithms", "problems", "delays", "metrics", "assumptions", "checks", "proofs"]
KINDS: tuple[Kind, ...] = get_args(Kind)
VARIABLE = "BOUNDLAB_PLUGINS"
BUILT_IN = "boundlab"
_PREFIX = "boundlab_plugin_"
_RUNNING: ContextVar[frozenset[Path]] = ContextVar("_RUNNING", default=frozenset())


@final
@dataclass(frozen=True, slots=True)
class Source:
    """Something that registers objects of one kind.

    Parameters
    ----------
    name
        Of the entry point, or of the file.
    origin
        ``boundlab`` for what is built in; else the package with its version, or the path of the file.
    load
        Gives one object, or a tuple or list of them; may raise anything.
    file
        Whether it is a file.
    """

    name: str
    origin: str
    load: Callable[[], Any]
    file: bool = False

    def likely(self, identity: str) -> bool:
        """Return whether an id is looked for here first: in files, and where the name begins the id."""
        return self.file or identity.startswith(self.name)


def sources(kind: Kind) -> list[Source]:
    """Return who registers objects of a kind, in a stable order: what is built in, other packages, files."""
    if not isinstance(kind, str):
        raise SpecError(f"kind must be text; got a value of type {type(kind).__name__}")
    if kind not in KINDS:
        raise SpecError(f"nothing of the kind {kind!r} is registered; {nearest(kind, KINDS)}")
    found = list(_installed(kind, tuple(sys.path)))
    for path in files():
        declared = _declared(path)
        # A file that cannot be loaded might have registered objects of any kind.
        if isinstance(declared, str) or kind in declared:
            found.append(Source(path.name, str(path), partial(_objects, path, kind), file=True))
    return found


def files() -> tuple[Path, ...]:
    """Return the files of BOUNDLAB_PLUGINS as it is now, so that subprocesses and library use agree.

    A file that is being run is not among them: it may look up what others have registered.
    """
    given = os.environ.get(VARIABLE, "").split(os.pathsep)
    found = dict.fromkeys(_place(one) for one in given if one.strip())
    return tuple(path for path in found if path not in _RUNNING.get())


def running() -> bool:
    """Return whether a file is being run, whose own objects nothing registers yet."""
    return bool(_RUNNING.get())


def only_built_in() -> tuple[str, ...] | None:
    """Return the entry points of boundlab as they are declared; None where others register objects, too."""
    every = [one for found in _entries(tuple(sys.path)).values() for one in found]
    alone = not files() and not any(map(_foreign, every))
    return tuple(sorted(f"{one.group}: {one.name} = {one.value}" for one in every)) if alone else None


@checked
def load_plugin(path: str | Path) -> None:
    """Add a file to BOUNDLAB_PLUGINS for the rest of this process and of those that it starts.

    Raises
    ------
    SpecError
        If it cannot be loaded.
    """
    place = _place(path)
    if os.pathsep in str(place):
        raise SpecError(f"the path of a plug-in must not hold {os.pathsep!r}, got {place}")
    declared = _declared(place)
    if isinstance(declared, str):
        raise SpecError(f"the plug-in {place} cannot be loaded ({declared})")
    if place not in files():
        os.environ[VARIABLE] = os.pathsep.join([*filter(None, [os.environ.get(VARIABLE)]), str(place)])


@contextmanager
def using(paths: Sequence[Path]) -> Iterator[None]:
    """Add files to BOUNDLAB_PLUGINS for a while.

    Raises
    ------
    SpecError
        If one of them cannot be loaded: it was asked for by name.
    """
    before = os.environ.get(VARIABLE)
    try:
        for path in paths:
            load_plugin(path)
        yield
    finally:
        if before is None:
            os.environ.pop(VARIABLE, None)
        else:
            os.environ[VARIABLE] = before


def message(error: BaseException) -> str:
    """Return what an exception says in one line, whatever it does when it is asked."""
    try:
        words = " ".join(str(error).split())
    except BaseException:  # SystemExit, too: an exception's words never choose how a command ends
        return ""
    return shortened(words, 300)


def reason(error: BaseException) -> str:
    """Return why something could not be loaded: ``ModuleNotFoundError: No module named 'numpi'``."""
    words = message(error)
    if words and isinstance(error, BoundlabError):
        return words
    return f"{type(error).__name__}: {words}" if words else type(error).__name__


def owners() -> dict[str, str]:
    """Return the top-level modules of plug-ins: each one's package, or the name of its file."""
    found = {name: Path(str(module.__file__)).name for name, module in sys.modules.items() if name.startswith(_PREFIX)}
    for kind in KINDS:
        for entry in _entries(tuple(sys.path))[kind]:
            if _foreign(entry):
                found[entry.module.split(".")[0]] = entry.name if entry.dist is None else _package(entry.dist)[0]
    return found


@lru_cache(maxsize=4 * len(KINDS))
def _installed(kind: Kind, path: tuple[str, ...]) -> tuple[Source, ...]:
    """Return the entry points of a kind."""
    found = sorted(_entries(path)[kind], key=lambda one: (_foreign(one), one.name, one.value))
    return tuple(Source(one.name, _origin(one), one.load) for one in found)


@lru_cache(maxsize=4)
def _entries(_path: tuple[str, ...]) -> dict[Kind, list[EntryPoint]]:
    """Return the entry points of each kind; what all packages declare is read once for each search path."""
    every = entry_points()
    return {kind: list(every.select(group=f"{BUILT_IN}.{kind}")) for kind in KINDS}


@lru_cache(maxsize=64)
def _package(found: Distribution) -> tuple[str, str]:
    """Return name and version of a package: each look at its metadata parses the whole."""
    return found.name, found.version


def _foreign(entry: EntryPoint) -> bool:
    return entry.dist is None or _package(entry.dist)[0] != BUILT_IN


def _origin(entry: EntryPoint) -> str:
    if not _foreign(entry):
        return BUILT_IN
    return "an unknown package" if entry.dist is None else " ".join(_package(entry.dist))


def _objects(path: Path, kind: Kind) -> Any:
    declared = _declared(path)
    if isinstance(declared, str):
        raise SpecError(declared)
    return declared[kind]


def _declared(path: Path) -> Mapping[str, Any] | str:
    """Return what a file declares, or in one line why it cannot be loaded."""
    stamp = _stamp(path)
    return stamp if isinstance(stamp, str) else _run(path, stamp.st_mtime_ns, stamp.st_size)


def _stamp(path: Path) -> os.stat_result | str:
    """Return when a file was changed and how large it is, or in one line why it is none."""
    try:
        found = path.stat()
    except (OSError, ValueError) as error:
        return str(getattr(error, "strerror", None) or error)
    return found if stat.S_ISREG(found.st_mode) else "it is not a file"


def _place(path: str | Path) -> Path:
    """Return the absolute path; a ``~`` that is nobody's home stays, and the path is then that of no file."""
    try:
        return Path(path).expanduser().absolute()
    except RuntimeError:
        return Path(path).absolute()


@final
class _FromSource(SourceFileLoader):
    """A loader that compiles a file each time: stored bytecode is only told from a newer text by second and size."""

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self.get_data(self.path), self.path)


def _module(path: Path) -> str:
    return f"{_PREFIX}{re.sub(r'[^0-9A-Za-z]', '_', path.stem)}_{crc32(os.fsencode(path)):08x}"


@final
class _Executed(Loader):
    """A loader of what has been executed."""

    def __init__(self, module: ModuleType) -> None:
        self.module = module

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self.module

    def exec_module(self, module: ModuleType) -> None:
        pass


@final
class _OfFiles(MetaPathFinder):
    """Finds the module of a plug-in file by its name, which is all that a pickle has of the file."""

    def find_spec(self, name: str, _path: object = None, _target: object = None) -> ModuleSpec | None:
        """Return how to load the file of BOUNDLAB_PLUGINS that has this name."""
        if not name.startswith(_PREFIX):
            return None
        for path in files():
            if _module(path) == name and not isinstance(_declared(path), str) and name in sys.modules:
                return ModuleSpec(name, _Executed(sys.modules[name]))
        file = name.removeprefix(_PREFIX).rpartition("_")[0]
        raise ModuleNotFoundError(f"the plug-in {file}.py is not loaded here, or lies elsewhere: load_plugin(PATH)")


sys.meta_path.append(_OfFiles())


def value_of(path: Path, name: str, kind: str = "") -> Any:
    """Execute a file of Python and return what it calls ``name``, or registers under ``kind`` in BOUNDLAB.

    Raises
    ------
    SpecError
        If it cannot be executed, or has nothing of that name.
    """
    place = _place(path)
    if isinstance(stamp := _stamp(place), str):
        raise SpecError(f"{path} cannot be read: {stamp}")

    def read(module: ModuleType) -> Any:
        listed = getattr(module, "BOUNDLAB", None)
        if not hasattr(module, name) and isinstance(listed, Mapping) and kind in listed:
            return listed[kind]
        if not hasattr(module, name):
            raise SpecError(f"it sets no {name}" + (f', and no "{kind}" in BOUNDLAB' if kind else ""))
        return getattr(module, name)

    found = _executed(place, read)
    if isinstance(found, str):
        raise SpecError(f"{path} cannot be loaded ({found})")
    return found[0]


@lru_cache(maxsize=64)
def _run(path: Path, _changed: int, _size: int) -> Mapping[str, Any] | str:
    """Execute a file, once for each of its versions, so that its objects stay the same ones."""
    found = _executed(path, lambda module: _read(getattr(module, "BOUNDLAB", None)))
    return found if isinstance(found, str) else found[0]


def _executed(path: Path, read: Callable[[ModuleType], Any]) -> tuple[Any] | str:
    """Execute a file and return what is read off it, or in one line why that cannot be done."""
    name = _module(path)
    if path.suffix != ".py":
        return "its name must end in .py"
    loader = _FromSource(name, str(path))
    spec = spec_from_loader(name, loader)
    assert spec is not None  # noqa: S101  (the loader is a source loader)
    module = module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look for the module of their class there
    token = _RUNNING.set(_RUNNING.get() | {path})
    try:
        loader.exec_module(module)
        return (read(module),)
    except (KeyboardInterrupt, MemoryError):
        raise
    except BaseException as error:  # SystemExit, too: no file of a user ends the command line
        sys.modules.pop(name, None)
        return reason(error)
    finally:
        _RUNNING.reset(token)


def _read(declared: Any) -> Mapping[str, Any]:
    if not isinstance(declared, Mapping):
        raise SpecError('it must set BOUNDLAB = {KIND: objects}, e.g. BOUNDLAB = {"algorithms": (MINE,)}')
    found = dict(declared)  # what a class of its own answers is asked for here, where it may raise, and never again
    for kind in found:
        if kind not in KINDS:
            raise SpecError(f"BOUNDLAB has no kind {kind!r}; {nearest(str(kind), KINDS)}")
    return found
