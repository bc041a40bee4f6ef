"""The recorded questions and answers, and the files that the questions name."""

import base64
import json
import lzma
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
ANSWERS = FOLDER / "answers.jsonl.xz"
INPUTS = FOLDER / "inputs.json.xz"
HERE = "{here}"  # in a word of a command line: the folder in which its files lie


@dataclass(frozen=True, slots=True)
class Line:
    """One question with its answer.

    Parameters
    ----------
    id
        Kind and number.
    words
        The command line, or ``constants SPEC``, ``draws ALGORITHM OPTIONS DELAYS CLIENTS``.
    tags
        Judge, engine, algorithm and family that it is about.
    files
        Inputs that it reads.
    answer
        What is compared: see :mod:`benchmarks.golden.view`.
    seconds
        Of a processor, when it was recorded.
    tenth
        Whether ``make test`` asks it, too.
    """

    id: str
    words: Sequence[str]
    tags: Sequence[str] = ()
    files: Sequence[str] = ()
    answer: Any = None
    seconds: float = 0.0
    tenth: bool = False

    @property
    def kind(self) -> str:
        """What comes before the number."""
        return self.id.partition("/")[0]

    def answered(self, answer: Any, seconds: float) -> "Line":
        """Return the same with an answer."""
        return replace(self, answer=answer, seconds=round(seconds, 3))


def shuffled(lines: Iterable[Line]) -> list[Line]:
    """Return lines in an order that nobody chose, the same each time."""
    return sorted(lines, key=lambda one: sha256(one.id.encode()).digest())


def read() -> list[Line]:
    """Return all recorded lines."""
    with lzma.open(ANSWERS, "rt", encoding="utf-8") as lines:
        return [Line(**json.loads(one)) for one in lines]


def write(lines: Iterable[Line]) -> None:
    """Record lines in place of those that were there."""
    with lzma.open(ANSWERS, "wt", encoding="utf-8", preset=9) as out:
        out.writelines(json.dumps(asdict(one), ensure_ascii=False) + "\n" for one in lines)


@cache
def inputs() -> Mapping[str, bytes]:
    """Return the contents of all input files by their names."""
    if not INPUTS.exists():
        return {}
    with lzma.open(INPUTS, "rt", encoding="utf-8") as raw:
        return {name: base64.b64decode(text) for name, text in json.load(raw).items()}


def write_inputs(files: Mapping[str, bytes]) -> None:
    """Record the input files."""
    with lzma.open(INPUTS, "wt", encoding="utf-8", preset=9) as out:
        json.dump({name: base64.b64encode(content).decode() for name, content in sorted(files.items())}, out)
    inputs.cache_clear()


def unpack(names: Iterable[str], place: Path) -> None:
    """Write input files into a folder."""
    for name in names:
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith("/"):
            path.mkdir(exist_ok=True)
        else:
            path.write_bytes(inputs()[name])
