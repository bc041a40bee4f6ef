"""Folders of MNIST-style IDX files, compressed or not."""

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

import numpy as np
from numpy.typing import NDArray

from boundlab.errors import DataError
from boundlab.files import check_readable, is_file

_IMAGES, _LABELS = 0x0803, 0x0801
_LARGEST_FILE = 2**31
_LARGEST_TEXT, _MOST_LINES = 256 * 2**20, 1_000_000
_LARGEST = 150_000_000  # pixels: 1.2 GB as the float64 that they become


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """Open a file, compressed with gzip or not, and turn what may go wrong in reading it into one line.

    Raises
    ------
    DataError
        If the file is missing, unreadable, or its compressed stream is truncated or corrupt.
    """
    check_readable(path, DataError, _LARGEST_FILE)
    try:
        with path.open("rb") as plain:
            zipped = plain.read(2) == b"\x1f\x8b"
            plain.seek(0)
            if not zipped:
                yield plain
                return
            with gzip.GzipFile(fileobj=plain) as stream:
                yield cast(IO[bytes], stream)
    except EOFError:
        raise DataError(f"{path} is truncated: the compressed stream ends early") from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise DataError(f"{path} is not a sound gz file: {error}") from None
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror or error}") from None


def check_text(path: Path) -> None:
    """Refuse a text, compressed or not, that takes too long to read: more than a million lines, or 256 MiB.

    Raises
    ------
    DataError
        If it is longer than that.
    """
    lines = size = 0
    with opened(path) as stream:
        while block := stream.read(1 << 20):
            lines, size = lines + block.count(b"\n"), size + len(block)
            if lines > _MOST_LINES or size > _LARGEST_TEXT:
                raise DataError(f"{path} holds more than {_MOST_LINES} lines or {_LARGEST_TEXT >> 20} MiB of text")


def read_folder(folder: Path) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return the training images and labels of a folder.

    Parameters
    ----------
    folder
        Holds ``train-images-idx3-ubyte`` and ``train-labels-idx1-ubyte``, each with or without ``.gz``.

    Returns
    -------
    tuple
        Pixels of shape (samples, rows·columns), and labels of shape (samples,).

    Raises
    ------
    DataError
        If a file is missing, truncated, has a wrong magic number, or the counts differ.
    """
    try:
        found = folder.is_dir()
    except OSError:  # a name that is too long
        found = False
    if not found:
        raise DataError(f"{folder} is not a folder with IDX files")
    first, second = files_of_folder(folder)
    images, labels = _read(first, _IMAGES), _read(second, _LABELS)
    if len(images) != len(labels):
        raise DataError(f"{folder} holds {len(images)} images but {len(labels)} labels")
    if len(images) == 0:
        raise DataError(f"{folder} holds no images")
    return images.reshape(len(images), -1), labels.astype(np.int64)


def files_of_folder(folder: Path) -> tuple[Path, Path]:
    """Return the files of the training images and of their labels.

    Raises
    ------
    DataError
        If one is missing.
    """
    return _find(folder, "train-images"), _find(folder, "train-labels")


def _find(folder: Path, stem: str) -> Path:
    kind = {"train-images": 3, "train-labels": 1}[stem]
    names = [f"{stem}{mark}idx{kind}-ubyte{end}" for mark in "-." for end in ("", ".gz")]
    for name in names:
        if is_file(folder / name):
            return folder / name
    raise DataError(f"{folder} has no {names[0]} or {names[1]}")


def _read(path: Path, magic: int) -> NDArray[np.uint8]:
    axes = magic & 0xFF
    with opened(path) as stream:
        header = stream.read(4 + 4 * axes)
        if len(header) < 4 + 4 * axes:
            raise DataError(f"{path} is truncated: its header has {len(header)} bytes, not {4 + 4 * axes}")
        got, *shape = (int(word) for word in np.frombuffer(header, dtype=">u4"))
        if got != magic:
            raise DataError(f"{path}: the magic number is {got:#010x}, not {magic:#010x}; is it an IDX file?")
        size = 1
        for length in shape:
            size *= length
        if size > _LARGEST:
            raise DataError(f"{path} says that it holds {size} bytes; at most {_LARGEST} are read")
        raw = stream.read(size + 1)
    if len(raw) != size:
        word = "truncated" if len(raw) < size else "longer than its header says"
        raise DataError(f"{path} is {word}: {'×'.join(map(str, shape))} values need {size} bytes, got {len(raw)}")
    return np.frombuffer(raw, dtype=np.uint8).reshape(shape)
