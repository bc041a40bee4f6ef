"""Read files of a limited size with clear messages; write whole files or nothing, where it is safe; count memory."""

import contextlib
import csv
import json
import math
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from hashlib import file_digest
from pathlib import Path
from typing import Any

from boundlab.errors import BoundlabError, CaseError, OutputError

LARGEST = 64 * 2**20
_DIGITS, _SHOWN = 17, 40
SHARE = 0.8  # of the free memory that registers may take
RESULT = "result.json"
SCHEMA = "boundlab/{}/1"  # what a document of boundlab's says of itself; the number changes where a key changes
_KINDS = {  # by ending
    ".toml": "a TOML file holds a theorem, for boundlab show, check, compare …, or the plan of a sweep",
    ".json": "a JSON file holds a case, for boundlab exact and run, or a certificate, for worst-case --recheck",
    ".py": "a Python file is a plug-in, boundlab --plugin FILE …, which boundlab doctor FILE checks",
}
_ROW = re.compile(r"\[\n(?:\s*[-\d.eE+]+,?\n)+\s*(?:\"\w*\"\n\s*)?\]")  # of numbers, or an event: one line
_MARK = "files"  # the key of RESULT under which the files of a folder stand that belong to it


def schema(kind: str) -> str:
    """Return what a document of this kind says under the key ``schema``.

    Examples
    --------
    >>> schema("comparison")
    'boundlab/comparison/1'
    """
    return SCHEMA.format(kind)


def check_readable(path: Path, error: type[BoundlabError], largest: int = LARGEST, what: str = "") -> None:
    """Refuse what is no file, or a file that is too large: devices and pipes may have no end.

    Parameters
    ----------
    what
        What the file is, for messages: ``the trace``.

    Raises
    ------
    BoundlabError
        Of the given type, naming the file and what is wrong with it.
    """
    name = f"{what} {path}".strip()
    try:
        found = path.stat()
    except (OSError, ValueError) as reason:
        raise error(f"cannot read {name}: {_why(reason)}") from None
    if not stat.S_ISREG(found.st_mode):
        kind = "a folder" if stat.S_ISDIR(found.st_mode) else "a device or a pipe"
        raise error(f"cannot read {name}: it is {kind}, not a file")
    if found.st_size > largest:
        raise error(f"{path} is larger than {largest >> 20} MiB")


def is_file(path: Path) -> bool:
    """Return whether there is such a file; a name that no file can have is that of none."""
    return _there(path.is_file)


def is_folder(path: Path) -> bool:
    """Return whether there is such a folder; a name that none can have is that of none."""
    return _there(path.is_dir)


def _there(asked: Callable[[], bool]) -> bool:
    try:
        return asked()
    except (OSError, ValueError):
        return False


def named_file(name: str, ending: str) -> Path | None:
    """Return the file that a word names, which ends so or is there; None where the word is an id."""
    path = Path(name)
    return path if name.endswith(ending) or is_file(path) else None


def hashes(paths: Iterable[Path]) -> dict[str, str]:
    """Return the SHA-256 of each file that can be read, by its path."""
    found = {}
    for path in paths:
        with contextlib.suppress(OSError), path.open("rb") as stream:
            found[str(path)] = file_digest(stream, "sha256").hexdigest()
    return found


def read_text(path: Path, error: type[BoundlabError], largest: int = LARGEST) -> str:
    """Return the text of a UTF-8 file of at most ``largest`` bytes.

    Raises
    ------
    BoundlabError
        Of the given type, naming the file and what is wrong with it.
    """
    check_readable(path, error, largest)
    try:
        with path.open("rb") as stream:
            raw = stream.read(largest + 1)  # files of /proc say that they are empty
        if len(raw) > largest:
            raise error(f"{path} is larger than {largest >> 20} MiB")
        return raw.decode("utf-8-sig")  # Windows begins a text with a byte order mark
    except OSError as reason:
        raise error(f"cannot read {path}: {_why(reason)}") from None
    except UnicodeDecodeError:
        raise error(f"{path} is not UTF-8 text") from None


def _why(reason: OSError | ValueError) -> str:
    if isinstance(reason, FileNotFoundError):
        return "there is no such file"
    return getattr(reason, "strerror", None) or str(reason)


def read_json(path: Path, error: type[BoundlabError] = CaseError) -> Any:
    """Read a JSON file of at most 64 MiB; NaN and infinities are not JSON and are refused.

    Raises
    ------
    BoundlabError
        Of the given type, naming the file and the place of the first mistake.
    """

    def refuse(word: str) -> None:
        raise error(f"{path}: {word} is not a number that JSON knows")

    try:
        return json.loads(read_text(path, error), parse_constant=refuse, parse_float=decimal)
    except RecursionError:
        raise error(f"{path} is nested too deeply") from None
    except json.JSONDecodeError as reason:
        raise error(f"{path}, line {reason.lineno}: {reason.msg}{other_kind(path, '.json')}") from None
    except RoundedError as reason:
        raise error(f"{path}: {reason}") from None
    except ValueError:  # Python reads no integer of more than 4300 digits
        raise error(f"{path} holds an integer with too many digits") from None


def other_kind(path: Path, wanted: str) -> str:
    """Return what a file is by its ending, where a file of another kind is wanted."""
    return f"; {_KINDS[path.suffix]}" if path.suffix in _KINDS and path.suffix != wanted else ""


class RoundedError(ValueError):
    """A number of a file has more digits than floats keep."""


def decimal(word: str) -> float:
    """Read a decimal number of a file: to 17 digits, as programs write floats, or with all that floats keep.

    Raises
    ------
    RoundedError
        If it has more: what is compared without rounding would be another number.
    """
    value, exact = float(word), Decimal(word)
    if (len(exact.as_tuple().digits) > _DIGITS and Decimal(repr(value)) != exact) or (exact and not value):
        short = word if len(word) <= _SHOWN else f"{word[:_SHOWN]}…"
        raise RoundedError(f"{short} has more digits than a float keeps; write it as text, in quotes")
    return value


def write_csv(path: Path, names: Sequence[str], rows: Iterable[Iterable[Any]]) -> None:
    """Write a table with a header; rows are taken one after the other.

    Raises
    ------
    OutputError
        If the file cannot be written.
    """
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(names)
        out.writerows(rows)


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a temporary path beside ``path`` and rename it when the block succeeds.

    A reader never sees a half-written file, and a failure leaves what was there before. A link is followed. A file that
    is replaced keeps its mode; a new one has the mode that the umask leaves.

    Raises
    ------
    OutputError
        If the folder does not exist or cannot be written, or the path is a device, a pipe or a folder.
    """
    try:
        target = path.resolve()
        mode = _mode(target, path)
        temporary = target.with_name(f".boundlab-{os.urandom(6).hex()}{target.suffix[:16]}")
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    except (OSError, ValueError, RuntimeError) as reason:  # RuntimeError: links that go round in circles
        raise OutputError(f"cannot write {path}: {getattr(reason, 'strerror', None) or reason}") from None
    try:
        yield temporary
        if mode is not None:
            temporary.chmod(mode)
        temporary.replace(target)
    except OSError as reason:
        raise OutputError(f"cannot write {path}: {reason.strerror}") from None
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def cache_folder(kind: str) -> Path:
    """Return the folder for what can be made again: in XDG_CACHE_HOME, or else in ``~/.cache``.

    Raises
    ------
    OutputError
        If it cannot be made.
    """
    try:
        found = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "boundlab" / kind
        found.mkdir(parents=True, exist_ok=True)
    except RuntimeError:
        raise OutputError("there is no home folder to keep a cache in; set XDG_CACHE_HOME") from None
    except OSError as error:
        raise OutputError(f"{found} cannot be made ({error.strerror or error}); set XDG_CACHE_HOME") from None
    return found


def _mode(target: Path, path: Path) -> int | None:
    """Return the mode of a file that is to be replaced, None where there is none; the name must be a possible one."""
    try:
        found = target.stat()
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(found.st_mode):
        raise OutputError(f"{path} is a folder; name a file")
    if not stat.S_ISREG(found.st_mode):
        raise OutputError(f"cannot write {path}: it is a device or a pipe, not a file")
    return stat.S_IMODE(found.st_mode)


def check_writable(path: Path) -> None:
    """Say before the work, not after it, that a file could not be written.

    Raises
    ------
    OutputError
        As :func:`replacing` would.
    """
    with contextlib.suppress(_ProbedError), replacing(path):
        raise _ProbedError


class _ProbedError(Exception):
    """Leaves a probe of :func:`check_writable` without creating its file."""


def write_text(path: Path, text: str) -> None:
    """Write a text file atomically."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def json_value(value: Any) -> Any:
    """Return a number, a word or an array as JSON has it: lists for arrays, and null for what is not finite."""
    plain = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(plain, list):
        return [json_value(one) for one in plain]
    return None if isinstance(plain, float) and not math.isfinite(plain) else plain


def json_text(value: Any) -> str:
    """Return a value as the JSON of a file: half of a surrogate pair, which no UTF-8 holds, is escaped."""
    text = json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    text = _ROW.sub(lambda row: re.sub(r"\n\s*", " ", row[0]).replace("[ ", "[").replace(" ]", "]"), text)
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def write_json(path: Path, value: Any) -> None:
    """Write a JSON file atomically."""
    write_text(path, json_text(value))


class Document(dict[str, Any]):
    """Content of a JSON file, such as a case; :meth:`save` writes it."""

    def save(self, path: str | Path) -> Path:
        """Write the file, whole or not at all, and return its path.

        Raises
        ------
        OutputError
            If it cannot be written.
        """
        target = Path(path)
        check_writable(target)
        write_json(target, self)
        return target

    def __repr__(self) -> str:
        """Say what it is about, and which keys it has."""
        return f"<{self.get('theorem') or 'document'}: {', '.join(self)}>"


def folder(path: Path) -> Path:
    """Create a folder for results if it does not exist, and check that it can be written and is boundlab's to change.

    That is a folder which is empty, or holds a ``result.json`` of boundlab's.

    Raises
    ------
    OutputError
        If it is no folder, cannot be written, or holds files of somebody else.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
        probe = path / f".boundlab-{os.urandom(6).hex()}"
        os.close(os.open(probe, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        probe.unlink()
        empty = next(path.iterdir(), None) is None
    except (OSError, ValueError) as reason:
        raise OutputError(f"cannot write into {path}: {_why(reason)}") from None
    if not empty and _result(path) is None:
        raise OutputError(f"cannot write into {path}: it holds files but no {RESULT} of boundlab's; name a new folder")
    return path


def _result(path: Path) -> Mapping[str, Any] | None:
    """Return the result that boundlab has left in a folder, None if there is none."""
    try:
        found = read_json(path / RESULT, OutputError)
    except OutputError:
        return None
    return found if isinstance(found, dict) and "boundlab" in found else None


def write_folder(path: Path, result: Mapping[str, Any], files: Mapping[str, Any], others: tuple[str, ...] = ()) -> None:
    """Write ``result.json`` and further JSON files into a folder in place of all that an earlier result has left there.

    Everything new is written beside what is there before anything old is removed.

    Parameters
    ----------
    result
        What ``result.json`` holds, beside the names of the files that belong to it.
    files
        Further files: name → what it holds.
    others
        Names of files that somebody else writes into the folder for this result, such as plots.

    Raises
    ------
    OutputError
        If a file cannot be written.
    """
    earlier = (_result(folder(path)) or {}).get(_MARK, [])
    documents = {**files, RESULT: {**result, _MARK: [RESULT, *files, *others]}}
    with contextlib.ExitStack() as stack:
        for name, value in documents.items():
            temporary = stack.enter_context(replacing(path / name))
            try:
                temporary.write_text(json_text(value), encoding="utf-8")
            except OSError as reason:
                raise OutputError(f"cannot write {path / name}: {reason.strerror}") from None
        for name in earlier if isinstance(earlier, list) else []:
            if isinstance(name, str) and name == Path(name).name and name not in {*documents, *others}:
                (path / name).unlink(missing_ok=True)


def free_bytes() -> int | None:
    """Return the memory that programs can still have here, or None where that is not known."""
    found = [value for value in (_machine(), _container()) if value is not None]
    return min(found, default=None)


def bytes_text(count: float) -> str:
    """Return a number of bytes for people: '1.6 GB'."""
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count:.0f} bytes"


def _machine() -> int | None:
    """Return what the kernel says is available, caches that it can drop included."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        return next(1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))
    except (OSError, ValueError, StopIteration):
        return None


def _container() -> int | None:
    """Return what a container's own limit leaves, where it has one (cgroups of version 2)."""
    folder = Path("/sys/fs/cgroup")
    try:
        limit = (folder / "memory.max").read_text(encoding="ascii").strip()
        return None if limit == "max" else int(limit) - int((folder / "memory.current").read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None
