"""Find registered objects by kind and id: what is built in, what other packages add, and files that a user names."""

import os
import re
import shlex
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.metadata import Distribution, EntryPoint, entry_points
from importlib.util import module_from_spec, spec_from_loader
from itertools import chain
from pathlib import Path
from pkgutil import resolve_name
from types import CodeType, MappingProxyType, ModuleType
from typing import Any, Literal, final, get_args
from zlib import crc32

from boundlab.arguments import checked
from boundlab.errors import BoundlabError, SpecError, shortened
from boundlab.options import closest, nearest, spec_of

# Where registered objects come from: entry points of installed packages, and files that the user names.
#
# A file is named by ``boundlab --plugin FILE.py`` or by the environment variable BOUNDLAB_PLUGINS (paths with
# ``os.pathsep`` between them). Its ``BOUNDLAB`` maps kinds to objects. It is executed: to name it is to run it.

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


# Find registered objects by kind and id: theorems, algorithms, problems and all else that a plug-in may add.
#
# A package that declares an entry point in the group ``boundlab.KIND`` is found next to the built-in ones, and so is
# a file that the user names. Behind an entry point is one object, or a tuple or list of them; each has an ``id``. Of
# what is built in it may also be a mapping from ids to functions that make the objects when somebody asks for them.
# Each
# entry point is loaded on its own: one that cannot be loaded takes no other down.

# What each kind is called in a sentence, and what its objects must be; a type is imported only to judge a plug-in.
WORDS: Mapping[Kind, str] = MappingProxyType(
    {
        "theorems": "theorem",
        "algorithms": "algorithm",
        "problems": "problem",
        "delays": "delay model",
        "metrics": "metric",
        "assumptions": "assumption",
        "checks": "group of checks",
        "proofs": "proof",
    }
)
TYPES: Mapping[Kind, str] = MappingProxyType(
    {
        "theorems": "boundlab.theorems:Theorem",
        "algorithms": "boundlab.algorithms:Algorithm",
        "problems": "boundlab.objective:ProblemType",
        "delays": "boundlab.delays:DelayType",
        "metrics": "boundlab.metrics:Metric",
        "assumptions": "boundlab.assumptions:Assumption",
        "checks": "boundlab.checks:CheckGroup",
        "proofs": "boundlab.prove:Script",
    }
)


@final
@dataclass(frozen=True, slots=True)
class Registration:
    """A registered object; or an entry that gives none, with the reason.

    Parameters
    ----------
    id
        Of the object; of an entry that cannot be loaded, the name of its entry point or file.
    origin
        ``boundlab``, the package with its version, or the path of the file.
    made
        Gives the object, the same one each time; None where there is none.
    reason
        Why there is none, in one line; empty otherwise.
    """

    id: str
    origin: str
    made: Callable[[], Any] | None = None
    reason: str = ""

    @property
    def item(self) -> Any:
        """The object; None where there is none."""
        return self.made and self.made()


def catalogue(kind: Kind) -> tuple[Registration, ...]:
    """Return all registered objects of a kind and all entries that cannot be loaded, in a stable order."""
    found: list[Registration] = []
    by_id: dict[str, Registration] = {}
    for row in _rows(kind, sources(kind)):
        first = row if row.reason else by_id.setdefault(row.id, row)
        if first is row:
            found.append(row)
        elif first.item is not row.item:
            found.append(Registration(row.id, row.origin, reason=f"{first.origin} registers the same id"))
    return tuple(found)


def registered(kind: Kind) -> dict[str, Any]:
    """Return all registered objects of a kind by id, in a stable order; without entries that cannot be loaded.

    Raises
    ------
    SpecError
        If two entry points register the same id.
    """
    return _by_id(kind, _rows(kind, sources(kind)))


def choices(kind: Kind, name: str, built_in: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the objects among which an id is looked for: the built-in ones where one of them has it."""
    if name not in built_in:
        return registered(kind)
    # A plug-in's object of the same id would be passed over without a word.
    if foreign := [source for source in sources(kind) if source.origin != BUILT_IN]:
        _by_id(kind, [Registration(name, BUILT_IN, partial(built_in.get, name)), *_rows(kind, foreign)])
    return built_in


def lookup(kind: Kind, name: str, built_in: Mapping[str, Any] = MappingProxyType({})) -> Any:
    """Return the object of that id, as :func:`find` does.

    Raises
    ------
    SpecError
        If there is none; the message names the nearest id, and what could not be loaded.
    """
    # Asked thousands of times a second, and so without the decorator of the public API.
    if not isinstance(name, str) or not isinstance(built_in, Mapping):
        raise SpecError("lookup: name must be text, and built_in a mapping by names")
    found = find(kind, name, built_in)
    if found is None:
        raise SpecError(f"unknown {WORDS[kind]} {name!r}; {_hint(name, _rows(kind, sources(kind)))}")
    return found


def _hint(name: str, rows: Sequence[Registration]) -> str:
    """Return which ids begin with a name, as theorems do with that of their algorithm, or the nearest one, or all."""
    known = [row.id for row in rows if not row.reason]
    broken = "".join(f"; {row.id}: cannot be loaded ({row.reason})" for row in rows if row.reason)
    begun = sorted(one for one in known if one.startswith(f"{name}."))
    if begun:
        return f"there are {', '.join(begun)}{broken}"
    own = "" if closest(name, known) else f"; one of your own is known with boundlab --plugin FILE.py, or {VARIABLE}"
    return f"{nearest(name, known)}{own}{broken}"


def find(kind: Kind, name: str, built_in: Mapping[str, Any] = MappingProxyType({})) -> Any:
    """Return the object of that id: of ``built_in``, or the registered one; None if none has it.

    Entry points whose name begins the id are asked first, so that one theorem does not load all papers.

    Raises
    ------
    SpecError
        If two of those that were asked register it.
    """
    if name in built_in:
        return choices(kind, name, built_in)[name]
    everything = sources(kind)
    for asked in ([source for source in everything if source.likely(name)], everything):
        if found := _by_id(kind, (row for row in _rows(kind, asked) if row.id == name)):
            return found[name]
    return None


def beside(kind: Kind, item: Any) -> dict[str, Any]:
    """Return the objects among which those that belong to one are found, such as the theorems of its paper.

    Of a built-in one these are those of its own entry point, and all that others register; else they are all.

    Raises
    ------
    SpecError
        If two of them have the same id.
    """
    everything = sources(kind)
    own = [source for source in everything if source.origin == BUILT_IN and source.likely(item.id)]
    if _by_id(kind, _rows(kind, own)).get(item.id) is not item:
        return registered(kind)
    return _by_id(kind, _rows(kind, [*own, *(source for source in everything if source.origin != BUILT_IN)]))


def _by_id(kind: Kind, rows: Iterable[Registration]) -> dict[str, Any]:
    found: dict[str, Registration] = {}
    for row in (one for one in rows if not one.reason):
        first = found.setdefault(row.id, row)
        if first is not row and first.item is not row.item:
            raise SpecError(
                f"two packages register {WORDS[kind]} {row.id}: {first.origin} and {row.origin}; uninstall one of them"
            )
    return {name: row.item for name, row in found.items()}


def _rows(kind: Kind, chosen: Iterable[Source]) -> list[Registration]:
    found: list[Registration] = []
    for source in chosen:
        try:
            found += _load(kind, source)
        except (KeyboardInterrupt, MemoryError):
            raise
        except BaseException as error:  # a module may raise anything when it is imported, SystemExit too
            found.append(Registration(source.name, source.origin, reason=reason(error)))
    return found


def _load(kind: Kind, source: Source) -> list[Registration]:
    loaded = source.load()
    if isinstance(loaded, Mapping) and source.origin == BUILT_IN:
        return [Registration(name, source.origin, made) for name, made in loaded.items()]
    items = loaded if isinstance(loaded, (tuple, list)) else (loaded,)
    if source.origin != BUILT_IN:
        _judge(kind, items)
    return [Registration(item.id, source.origin, partial(items.__getitem__, place)) for place, item in enumerate(items)]


def _judge(kind: Kind, items: Iterable[Any]) -> None:
    """Refuse what is not of the kind's type, or has no id."""
    expected = resolve_name(TYPES[kind])
    for item in items:
        if not isinstance(item, expected):
            what = f"the class {item.__name__}" if isinstance(item, type) else _a(type(item).__name__)
            raise SpecError(f"{what}, not {_a(expected.__name__)}")
        identity = getattr(item, "id", None)
        if not (isinstance(identity, str) and identity.strip()):
            raise SpecError(f"{_a(expected.__name__)} without an id")


def _a(noun: str) -> str:
    return f"{'an' if noun[0] in 'AEIOaeio' else 'a'} {noun}"


# How objects are sent to another process: what is registered by its id, what was built from words by these words.
#
# Everything else is pickled whole. A process that reads the pickle needs the same packages, and the plug-in files that
# BOUNDLAB_PLUGINS names, or that ``load_plugin`` was called with.


class BuiltFromWords:
    """An object that, where it was built from words, pickles as the call that built it.

    A copy with other fields is no longer that object, and pickles whole. Two objects are equal if they were built from
    the same words, and any other one is equal to itself only.
    """

    _built_by: tuple[Any, ...] = ()  # a function, and its arguments: what builds, a kind, options, and more

    def __init_subclass__(cls, **how: Any) -> None:
        super().__init_subclass__(**how)
        for name in {"__eq__", "__hash__", "__repr__"} - cls.__dict__.keys():
            setattr(cls, name, getattr(cls, name))  # a dataclass would compare, and show, whole arrays

    def __eq__(self, other: object) -> bool:
        return self is other or self._built_by == getattr(other, "_built_by", None) != ()

    def __hash__(self) -> int:
        return hash(repr(self._built_by or id(self)))

    def __repr__(self) -> str:
        """Return the words that it was built from, cut where they are long, and its sizes."""
        words = spec_of(*self._built_by[1][1:3]) if self._built_by else type(self).__name__
        sizes = [f"{name} = {getattr(self, name)}" for name in ("n", "d") if hasattr(self, name)]
        return f"<{shortened(words, 60)}: {', '.join(sizes)}>"

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Return the call, or all that the object holds."""
        return self._built_by or object.__reduce_ex__(self, protocol)

    def __getstate__(self) -> Any:
        """Return all that the object holds but what it has computed for later."""
        state = object.__getstate__(self)
        if not isinstance(state, dict):
            return state
        later = [key for key in state if isinstance(getattr(type(self), key, None), cached_property)]
        return {key: one for key, one in state.items() if key not in later}


def built_by(one: Any, function: Callable[..., Any], *arguments: Any) -> None:
    """Note the call that builds an object again; a class with slots of its own has no place for it."""
    with suppress(AttributeError):
        object.__setattr__(one, "_built_by", (function, arguments))


def by_id(kind: Kind, one: Any, protocol: Any) -> Any:
    """Return how an object is pickled that may be registered: by its id if it is that very object, else whole."""
    try:
        registered = lookup(kind, one.id) is one
    except Exception:  # of the same id is something that cannot be loaded, or nothing
        registered = False
    return (lookup, (kind, one.id)) if registered else object.__reduce_ex__(one, protocol)


# Command lines to be run again: they name the files whose objects they need.


def command_line(*words: str, settings: Mapping[str, str] | None = None, **asked: Any) -> str:
    """Return ``boundlab WORDS`` for a shell, with ``--plugin`` for each file that is in use now.

    Without them the line would end with another answer wherever BOUNDLAB_PLUGINS is not what it is here.
    Installed packages need no word.

    Parameters
    ----------
    settings, asked
        Keywords of the question in :mod:`boundlab.api`, which are options of its command: each becomes ``--set``, or
        the option of its name; of a list the entries stand in one word, and None is left out.

    Examples
    --------
    >>> command_line("compare", "area.theorem8", iterations=[6, 9], server=None, settings={"periods": "[1,30]"})
    "boundlab compare area.theorem8 --iterations 6,9 --set 'periods=[1,30]'"
    """
    named = [("--plugin", _near(path)) for path in files()]
    given = [(f"--{name}", _told(value)) for name, value in asked.items() if value is not None]
    given += [("--set", f"{name}={value}") for name, value in (settings or {}).items()]
    return shlex.join(["boundlab", *chain.from_iterable(named), *words, *chain.from_iterable(given)])


def _told(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def _near(path: Path) -> str:
    """Return a path as it is typed here."""
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)
