"""Rows as lines of files: one file a process, appended and synced line by line."""

import json
import os
import platform
import secrets
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, final

from boundlab.errors import OutputError
from boundlab.files import write_json
from boundlab.sweep.cell import Row


@final
class Appender:
    """A file of lines of one process, begun with its first row."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._common: Mapping[str, Any] | None = None
        self._file: Any = None

    def append(self, row: Mapping[str, Any], common: Mapping[str, Any]) -> None:
        """Write a row, and its case beside it, so that a killed process loses nothing of them.

        Parameters
        ----------
        common
            What it shares with other rows, a line of its own whenever it changes.

        Raises
        ------
        OutputError
            If it cannot be written.
        """
        own = dict(row)
        case = own.pop("case", None)
        try:
            if case:
                write_json(self._folder / "cases" / f"{own['key']}.json", case)
            if self._file is None:
                name = f"{platform.node()}-{os.getpid()}-{secrets.token_hex(4)}.jsonl"
                self._file = (self._folder / "lines" / name).open("xb", buffering=0)
            if common != self._common:
                self._write({"common": dict(common)})
                self._common = dict(common)
            self._write(own)
        except OSError as error:
            self.close()  # a torn line ends its file: no row is to follow it
            raise OutputError(f"{self._folder} cannot be written: {error.strerror or error}") from None

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = self._common = None

    def _write(self, row: Mapping[str, Any]) -> None:
        text = memoryview(json.dumps(row, default=str).encode() + b"\n")
        while text:  # a disk that is nearly full takes a part
            text = text[self._file.write(text) :]
        os.fsync(self._file.fileno())


def read_lines(path: Path, start: int) -> Iterator[tuple[int, Row]]:
    """Yield each line of a file from a place on, with the place behind it; a torn line ends the file."""
    with path.open("rb") as file:
        file.seek(start)
        place = start
        for line in file:
            if not line.endswith(b"\n"):
                return
            place += len(line)
            # Two processes on a file system without locks may tear a line in the middle; others may nest without end.
            with suppress(ValueError, RecursionError):
                found = json.loads(line)
                if isinstance(found, dict):
                    yield place, found
