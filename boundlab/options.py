"""The small language of options: ``NAME:key=value,key=[1,2,3],key=@file``.

One reader serves problems, delay models, server policies and algorithm parameters, so that every
wrong option is answered in the same words. The defaults of the questions stand here, too.
"""

import difflib
import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, Final, Literal, final

from boundlab.errors import SpecError
from boundlab.files import RoundedError, decimal, read_text

# Squares and products of two inputs must neither overflow nor vanish.
_SMALLEST, _LARGEST = 1e-100, 1e100
_LARGEST_INTEGER = 2**53
_LARGEST_FILE = 16 * 2**20  # bytes
LONGEST_NUMBER = 1000  # characters; Python neither reads nor prints integers of more than 4300 digits
_SHOWN = 80  # characters of a wrong number in its message
_LONGEST = 1_000_000  # numbers of a list

# Words that options of the questions take.
BandKind = Literal["bootstrap", "student"]
Objective = Literal["per-iteration", "per-time"]
Axis = Literal["iterations", "time"]
BACKENDS = {
    "numpy": "the reference",
    "compiled": "Numba",
    "torch": "trials in lock step",
    "auto": "the fastest",
}
LOG_FORMS = ("csv", "appfl")
_SECONDS: Final = {"s": 1.0, "m": 60.0, "h": 3600.0}
# Limits of the questions.
MOST_ITERATIONS = 10**8
MOST_TRIALS = 10**6


@final
class Default:
    """Defaults of the questions, which :mod:`boundlab.api` and the command line share."""

    PROBLEM = "quadratic"
    DELAYS = "exponential"
    ITERATIONS = 1000
    TRIALS = 40
    RUN_TRIALS = 5  # of a run, which judges nothing
    SEED = 0
    LEVEL = 0.99
    BAND: BandKind = "bootstrap"
    BACKEND = "auto"
    BUDGET = 60.0  # seconds
    OBJECTIVE: Objective = "per-iteration"
    SERVER_COST = 0.0
    EPSILON = 0.01


@final
@dataclass(frozen=True, slots=True)
class Declared:
    """A parameter of a question as its command has it: the function that answers the question is annotated with it.

    Parameters
    ----------
    shown
        Names and the letters for a value, ``--trials -r N``; letters alone: an argument.
    words
        The help.
    offers
        What completes it: the name of a function of ``boundlab.cli``, and what that is asked for.
    read
        Reader of a typed value; of the list of them where there are ``many``.
    many
        Whether it may be repeated.
    """

    shown: str
    words: str
    offers: tuple[Any, ...] = ()
    read: Callable[[Any], Any] | None = None
    many: bool = False


def read_columns(given: Any) -> dict[str, str]:
    """Read KEY=NAME,KEY=NAME."""
    return _pairs([part.strip() for part in str(given).split(",") if part.strip()], "--map", "KEY=NAME, as time=ts")


def read_settings(given: Iterable[str]) -> dict[str, str]:
    """Read repeated NAME=VALUE."""
    return _pairs(given, "--set", "NAME=VALUE")


def _pairs(texts: Iterable[str], shown: str, like: str) -> dict[str, str]:
    """Read names and values.

    Raises
    ------
    SpecError
        If one has no ``=`` or a name stands twice.
    """
    found: dict[str, str] = {}
    for text in texts:
        setting = split_setting(text)
        if setting is None:
            raise SpecError(f"{shown} {text!r} is not {like}")
        name, value = setting
        if name in found:
            raise SpecError(f"{shown} {name} is given twice")
        found[name] = value
    return found


def integer(shown: str, words: str) -> Declared:
    """Declare an integer, as 1e4 and 10_000 are; its limits are those of the question."""
    return Declared(f"{shown} N", words, read=lambda value: whole(value, shown.split()[0]))


def _horizons(given: Any) -> list[int] | int:
    """Read ``1000``, or ``10,100,1000``: each of these is a run of its own."""
    found = [whole(one, "--iterations") for one in numbers(given, "--iterations")]
    return found if "," in str(given) else found[0]


def time_limit(words: str) -> Declared:
    """Declare a limit of time: 90, 90s, 1.5m or 2h."""
    return Declared("--budget TIME", words, read=lambda given: _time(given, "--budget"))


def _time(given: Any, option: str) -> float:
    text = str(given).strip()
    unit = text[-1:] if text[-1:] in _SECONDS else "s"
    return _SECONDS[unit] * number(text.removesuffix(unit), f"{option} (90, 90s, 1.5m or 2h)")


@final
class Keyword:
    """Keywords that several questions or commands have."""

    THEOREM = Declared("THEOREM", "an id (boundlab list) or a TOML file", ("ids", "theorems", ".toml"))
    PROBLEM = Declared("--problem -p SPEC", "NAME:key=value,… (boundlab list problems).", ("specs", "problems"))
    DELAYS = Declared("--delays -d SPEC", "NAME:key=value,… (boundlab list delays).", ("specs", "delays"))
    SERVER = Declared(
        "--server SPEC", "poisson:rate=4 (default: rate=optimal), count:every=4 or periodic:every=1.", ("policies",)
    )
    SETTINGS = Declared(
        "--set NAME=VALUE", "Set a symbol or a parameter; may be repeated.", ("symbols",), read=read_settings, many=True
    )
    ITERATIONS = integer("--iterations -k", "K: events for area (updates, aggregations), server updates for others.")
    HORIZONS = Declared(
        "--iterations -k K|K1,K2,…",
        "Events for area (client updates and aggregations), server updates for the others. Several horizons give a "
        "separate run each.",
        read=_horizons,
    )
    TRIALS = integer("--trials -r", "Independent trials.")
    SEED = integer("--seed -s", "Seed of all random numbers.")
    BACKEND = Declared(
        "--backend", f"{', '.join(f'{name} ({what})' for name, what in BACKENDS.items())}.", ("choices", BACKENDS)
    )
    DEVICE = Declared("--device", "For torch: cpu, cuda or cuda:1. Default: a GPU if there is one.")
    JOBS = integer("--jobs -j", "Number of processes. Default: one a core. Results do not depend on it.")
    SCRIPT = Declared(
        "--with SCRIPT",
        "Prove the theorem (ID or FILE.toml) with the steps of SCRIPT: a registered proof, or FILE.py with one.",
        ("ids", "proofs", ".py"),
    )


def closest(word: str, known: Iterable[str]) -> str:
    """Return the known word that was probably meant; empty where none is near."""
    names = sorted(known)
    alike = [one for one in names if one.lower() == word.lower()]
    return next(iter(alike or difflib.get_close_matches(word, names, n=1, cutoff=0.6)), "")


# What others call something here: what must be known, and what it is here.
_ELSEWHERE: Final = {
    "bound": ("terms", "the bound's terms stand under [terms]"),
    "sgd": ("gd", "did you mean gd? Its noise is the problem's: quadratic:sigma=1"),
    "csv": ("logistic", "data are an option of a problem: logistic:data=csv:FILE"),
}


def nearest(word: str, known: Iterable[str]) -> str:
    """Return a hint naming the closest known word, or what is known."""
    names = sorted(known)
    here, hint = _ELSEWHERE.get(word, ("", ""))
    if here in names:
        return hint
    if close := closest(word, names):
        return f"did you mean {close}?"
    if not names:
        return "there is none"
    shown = ", ".join(names[:12])
    return f"known: {shown}" + (", …" if len(names) > 12 else "")


def one_of(word: Any, known: Collection[str], what: str) -> Any:
    """Return a word that is known.

    Raises
    ------
    SpecError
        If it is not.
    """
    if word not in known:
        close = closest(str(word), known)
        hint = f"; did you mean {close}?" if close else ""
        raise SpecError(f"{what} must be one of {', '.join(known)}, got {word!r}{hint}")
    return word


def device_order(names: Iterable[str]) -> list[str]:
    """Return different names, each once: whole numbers by value if all are some, else by the alphabet.

    Devices are numbered so, whether a column of data or a trace names them: the i-th is client i of both.
    """
    found = set(names)
    whole = (one.isascii() and len(one) <= LONGEST_NUMBER and one.removeprefix("-").isdigit() for one in found)
    return sorted(found, key=lambda name: (int(name), name)) if all(whole) else sorted(found)


_NUMBER = re.compile(r"-?(\d+\.?\d*|\.\d+)(e-?\d{1,3})?(/\d+\.?\d*)?")
_FLAGS = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
# The option whose value may stand without its name.
_ALONE = {"trace": "file", "count": "every", "periodic": "every", "poisson": "rate"}


def parse_spec(text: str, what: str) -> tuple[str, dict[str, str]]:
    """Split ``NAME:key=value,…`` into its name and its options.

    Parameters
    ----------
    text
        What the user typed. Commas inside square brackets do not separate options; ``trace:log.csv`` is
        ``trace:file=log.csv``, ``count:4`` is ``count:every=4``.
    what
        The noun for messages, e.g. ``problem``.

    Raises
    ------
    SpecError
        If an option has no ``=`` or stands twice, a bracket is not closed, or a number has digits that no float keeps.

    Examples
    --------
    >>> parse_spec("exponential:rates=[10,10,2.5],server=4", "delays")
    ('exponential', {'rates': '[10,10,2.5]', 'server': '4'})
    """
    name, _, tail = text.strip().partition(":")
    name = name.strip()
    if not name:
        raise SpecError(f"{what} has no name in {text!r}; write NAME or NAME:key=value,key=value")
    options: dict[str, str] = {}
    for part in _split(tail, text, what):
        setting = split_setting(part)
        if setting is None and name in _ALONE and not options:
            setting = _ALONE[name], part.strip()
        if setting is None:
            raise SpecError(f"{what} {name}: option {part.strip()!r} is not key=value")
        key, value = setting
        if key in options:
            raise SpecError(f"{what} {name}: option {key} is given twice")
        _require_kept(value, f"{what} {name}: {key}")
        options[key] = value
    return name, options


def _require_kept(value: str, what: str) -> None:
    """Refuse a decimal number, or a fraction of two, that floats would change in silence."""
    for word in re.split(r"[\s,\[\]]+", value):
        for part in word.split("/") if _NUMBER.fullmatch(word) else ():
            try:
                decimal(part)
            except RoundedError as error:
                why = str(error).partition(";")[0]
                raise SpecError(f"{what}: {why}; boundlab exact takes it, as text in a case file") from None


def spec_of(name: str, options: Mapping[str, Any]) -> str:
    """Return ``NAME:key=value,…``, which :func:`parse_spec` reads back to the last digit.

    Examples
    --------
    >>> spec_of("lad", {"c": [0.0, 0.1], "x0": 3})
    'lad:c=[0,0.1],x0=3'
    """
    parts = ",".join(f"{key}={typed(value)}" for key, value in options.items())
    return f"{name}:{parts}" if parts else name


def typed(value: Any) -> str:
    """Return an option as it is typed: numbers, and lists of them, to the last digit."""
    if hasattr(value, "tolist"):  # arrays and numbers of NumPy
        value = value.tolist()
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        return f"[{','.join(typed(entry) for entry in value)}]"
    if isinstance(value, float):
        return repr(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)
    return str(value)


def merged(settings: Mapping[str, Any] | None, symbols: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a mapping and keywords say together.

    Raises
    ------
    SpecError
        If the first is no mapping, or both say something of one name.
    """
    if not isinstance(settings, Mapping | None):
        raise SpecError(f"names and values must be a mapping; got a value of type {type(settings).__name__}")
    for name in symbols.keys() & (settings or {}).keys():
        raise SpecError(f"{name} is given twice: in a mapping, and as a keyword")
    return {**(settings or {}), **symbols}


def split_setting(text: str) -> tuple[str, str] | None:
    """Split ``NAME=VALUE`` at its first ``=``; None if there is none, or nothing on one side of it."""
    name, _, value = text.partition("=")
    name, value = name.strip(), value.strip()
    return (name, value) if name and value else None


def _split(tail: str, text: str, what: str) -> list[str]:
    parts, depth, start = [], 0, 0
    for position, letter in enumerate(tail):
        depth += (letter == "[") - (letter == "]")
        if depth < 0:
            raise SpecError(f"{what}: the brackets in {text!r} do not match")
        if letter == "," and depth == 0:
            parts.append(tail[start:position])
            start = position + 1
    if depth:
        raise SpecError(f"{what}: a bracket in {text!r} is not closed")
    parts.append(tail[start:])
    return [part for part in parts if part.strip()] if tail.strip() else []


def number(text: object, what: str) -> float:
    """Read a number from text or from a JSON value.

    Raises
    ------
    SpecError
        If it is not a number, of more than 1000 characters, or so large or small that its square has no
        floating-point value.
    """
    if isinstance(text, str) and len(text) > LONGEST_NUMBER:
        raise SpecError(f"{what} must be a number of at most {LONGEST_NUMBER} characters, got one of {len(text)}")
    try:
        if isinstance(text, bool):
            raise TypeError
        if isinstance(text, str) and "/" in text:
            top, bottom = text.split("/", 1)
            value = float(top) / float(bottom)
        else:
            value = float(text)  # type: ignore[arg-type]
    except (TypeError, ValueError, ZeroDivisionError, OverflowError):
        raise SpecError(f"{what} must be a number, got {_cut(text)}") from None
    if not math.isfinite(value):
        raise SpecError(f"{what} must be a finite number, got {_cut(text)}")
    # 1e-999999999 is 0 as a float, and would fill the memory as a fraction.
    vanishes = not value and isinstance(text, str) and set("123456789") & set(re.split("[eE/]", text)[0])
    if vanishes or (value and not _SMALLEST <= abs(value) <= _LARGEST):
        raise SpecError(f"{what} must be 0 or of a size between {_SMALLEST:g} and {_LARGEST:g}, got {_cut(text)}")
    return text if isinstance(text, float) and hasattr(text, "formula") else value  # one that knows what it stands for


def _cut(text: object) -> str:
    """Return what was given in one line, cut where it is long."""
    shown = " ".join(repr(text).split("\n"))
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}… ({len(shown)} characters)"


def whole(text: object, what: str) -> int:
    """Read a whole number from text or from a JSON value; 1e4 is one, too.

    Raises
    ------
    SpecError
        If it is not one.
    """
    if isinstance(text, int) and not isinstance(text, bool):
        return text
    value = number(text, what)
    if not value.is_integer():
        raise SpecError(f"{what} must be an integer, got {_cut(text)}")
    if abs(value) < _LARGEST_INTEGER:
        return int(value)
    try:  # a float has not all digits of 1e23, nor of 9007199254740993
        exactly = Fraction(str(text))
    except ValueError:
        exactly = Fraction(value)
    return int(exactly)


def count(value: object, what: str, minimum: int, maximum: int = _LARGEST_INTEGER) -> int:
    """Read a whole number between two others.

    Raises
    ------
    SpecError
        If it is none, or not between them.
    """
    found = whole(value, what)
    if not minimum <= found <= maximum:
        limits = f"≥ {minimum}" if maximum == _LARGEST_INTEGER else f"between {minimum} and {maximum}"
        got = f"{found:g}" if abs(found) < _LARGEST_INTEGER else f"about 10^{math.log10(abs(found)):.6g}"
        raise SpecError(f"{what} must be {limits}, got {got}")
    return found


def numbers(text: object, what: str) -> list[float]:
    """Read a list of numbers: ``1,2,3``, ``[1,2,3]``, a JSON list, or ``@file`` with one a line.

    Raises
    ------
    SpecError
        If the list is empty or has more than a million entries, an entry is not a finite number, or the file cannot
        be read or is larger than 16 MiB.
    """
    if isinstance(text, str) and text.startswith("@"):
        try:
            raw = read_text(Path(text[1:]), SpecError, _LARGEST_FILE)
        except SpecError as error:
            raise SpecError(f"{what}: {error}") from None
        entries: list[object] = [
            word for line in raw.splitlines() for word in line.split("#", 1)[0].replace(",", " ").split()
        ]
    elif isinstance(text, str):
        # A comma at the end says that it is a list; a gap before it is no number.
        entries = [
            word
            for inside in [text.strip().strip("[]").strip().removesuffix(",")]
            for part in (inside.split(",") if inside else [])
            for word in part.split() or [part]
        ]
    else:
        entries = [*text] if isinstance(text, (list, tuple)) else [text]
    if not entries:
        raise SpecError(f"{what} is an empty list; give at least one number")
    if len(entries) > _LONGEST:
        raise SpecError(f"{what} has {len(entries)} entries; at most {_LONGEST} are taken")
    return [number(entry, f"{what}, entry {place}") for place, entry in enumerate(entries, 1)]


@dataclass(slots=True)
class Options:
    """Typed access to the options of one spec; :meth:`finish` rejects what nobody asked for.

    Parameters
    ----------
    owner
        Who reads them, for messages: ``problem huber``.
    values
        The raw options, text from the command line or values from JSON.
    used
        What was read, defaults included; a list that was given as a file is the list.
    """

    owner: str
    values: Mapping[str, Any]
    seen: set[str] = field(default_factory=set)
    used: dict[str, Any] = field(default_factory=dict)

    def has(self, key: str) -> bool:
        """Return whether the option was given."""
        self.seen.add(key)
        return key in self.values

    def raw(self, key: str, default: Any = None) -> Any:
        """Return the option as it was given."""
        self.seen.add(key)
        value = self.values.get(key, default)
        if value is not None:
            self.used[key] = value
        return value

    def require(self, key: str) -> Any:
        """Return the option as it was given, or say that it is missing."""
        if not self.has(key):
            raise SpecError(f"{self.owner} needs the option {key}{self.unread}")
        return self.raw(key)

    @property
    def unread(self) -> str:
        """``; it got …``, where options were given that nothing has read so far."""
        return f"; it got {', '.join(sorted(found))}" if (found := self.values.keys() - self.seen) else ""

    def number(
        self,
        key: str,
        default: float,
        *,
        above: float = -math.inf,
        minimum: float = -math.inf,
        maximum: float = math.inf,
    ) -> float:
        """Return a finite number with above < value, minimum ≤ value ≤ maximum."""
        value = number(self.raw(key, default), f"{self.owner}: {key}")
        if not (value > above and minimum <= value <= maximum):
            low = f"> {above:g}" if above > -math.inf else f"≥ {minimum:g}" if minimum > -math.inf else ""
            high = f"≤ {maximum:g}" if maximum < math.inf else ""
            raise SpecError(f"{self.owner}: {key} must be {' and '.join(filter(None, (low, high)))}, got {value:g}")
        return value

    def integer(self, key: str, default: int, *, minimum: int = 0, maximum: int = _LARGEST_INTEGER) -> int:
        """Return an integer with minimum ≤ value ≤ maximum."""
        return count(self.raw(key, default), f"{self.owner}: {key}", minimum, maximum)

    def numbers(self, key: str, default: list[float] | None = None) -> list[float]:
        """Return a list of finite numbers."""
        raw = self.require(key) if default is None else self.raw(key, default)
        found = numbers(raw, f"{self.owner}: {key}")
        if isinstance(raw, str) and raw.startswith("@"):
            self.used[key] = found
        return found

    def choice(self, key: str, default: str, allowed: Iterable[str]) -> str:
        """Return one of the allowed words."""
        return str(one_of(self.raw(key, default), list(allowed), f"{self.owner}: {key}"))

    def flag(self, key: str, default: bool = False) -> bool:
        """Return a yes/no option."""
        value = self.raw(key, default)
        if (found := _FLAGS.get(str(value).lower())) is None:
            raise SpecError(f"{self.owner}: {key} must be yes or no, got {value!r}")
        return found

    def finish(self) -> None:
        """Raise :class:`SpecError` if an option was given that nothing has read."""
        if unknown := [key for key in self.values if key not in self.seen]:
            raise SpecError(f"{self.owner} has no option {unknown[0]!r}; {nearest(unknown[0], self.seen)}")
