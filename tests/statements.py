"""Theorems of a user's own, as files: what a test says of one, in the words of the file."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from boundlab.theorems import Theorem, load_theorem

_USUAL = {"id": "mine", "algorithm": "gd", "metric": "gap", "step": {"alpha": "alpha"}, "terms": {"bound": "L*R**2"}}


def toml(data: Mapping[str, Any]) -> str:
    """Return the file that says what ``tomllib`` would read: texts, numbers, lists, and tables in tables."""
    return "".join(f"{line}\n" for line in _lines(data, ""))


def _lines(table: Mapping[str, Any], name: str) -> Iterator[str]:
    if name:
        yield f"[{name}]"
    yield from (f"{_word(key)} = {_word(one)}" for key, one in table.items() if not isinstance(one, Mapping))
    for key, one in table.items():
        if isinstance(one, Mapping):
            yield from _lines(one, f"{name}.{_word(key)}" if name else _word(key))


def _word(one: Any) -> str:
    return json.dumps(one, ensure_ascii=False)


def statement_file(folder: Path, **fields: Any) -> Path:
    """Write ``mine.toml``: gradient descent with any step, and these fields; assumptions may be one text."""
    data = {**_USUAL, **fields}
    if isinstance(data.get("assumptions"), str):
        data["assumptions"] = data["assumptions"].split()
    path = folder / "mine.toml"
    path.write_text(toml(data), encoding="utf-8")
    return path


def statement(folder: Path, **fields: Any) -> Theorem:
    """Return the theorem of such a file."""
    return load_theorem(str(statement_file(folder, **fields)))
