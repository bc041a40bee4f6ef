"""Data sets: what is read, and what is refused in one line."""

import gzip
import struct
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.error import URLError

import numpy as np
import pytest

from boundlab.errors import DataError, MissingExtraError, SpecError
from boundlab.problems import data as datasets
from boundlab.problems.data import Dataset, binary, classes, load, prepare


def idx(folder: Path, images: np.ndarray, labels: np.ndarray, *, zipped: bool = False, magic: int = 0x803) -> None:
    """Write a folder of IDX files."""
    folder.mkdir(exist_ok=True)
    parts = {
        "train-images-idx3-ubyte": struct.pack(">4I", magic, *images.shape) + images.astype(np.uint8).tobytes(),
        "train-labels-idx1-ubyte": struct.pack(">2I", 0x801, len(labels)) + labels.astype(np.uint8).tobytes(),
    }
    for name, content in parts.items():
        if zipped:
            (folder / f"{name}.gz").write_bytes(gzip.compress(content))
        else:
            (folder / name).write_bytes(content)


def pictures(count: int = 6) -> tuple[np.ndarray, np.ndarray]:
    return np.arange(count * 6).reshape(count, 2, 3) % 256, np.arange(count) % 3


@pytest.mark.parametrize("zipped", [True, False])
def test_idx_folders_are_read_compressed_or_not(tmp_path: Path, zipped: bool) -> None:
    images, labels = pictures()
    idx(tmp_path / "set", images, labels, zipped=zipped)
    data = load(f"idx:{tmp_path / 'set'}")
    assert np.array_equal(data.features, images.reshape(6, 6))
    assert np.array_equal(data.targets, labels)
    assert np.array_equal(prepare(data, "auto", normalise=False, bias=False), images.reshape(6, 6) / 255)
    assert load(f"mnist:{tmp_path / 'set'}").name.startswith("mnist:")


IMAGES = "train-images-idx3-ubyte"
SOUND = pictures()
BROKEN_IDX: dict[str, tuple[dict[str, Any], dict[str, Callable[[bytes], bytes]], str]] = {
    # How the folder is written, what becomes of its files, and what is said.
    "magic": ({"magic": 0x999}, {}, "magic number is 0x00000999, not 0x00000803"),
    "fewer labels": ({"labels": SOUND[1][:4]}, {}, "holds 6 images but 4 labels"),
    "no images": ({"images": SOUND[0][:0], "labels": SOUND[1][:0]}, {}, "holds no images"),
    "no file": ({}, {IMAGES: lambda _: b""}, "has no train-images-idx3-ubyte"),
    "cut stream": ({"zipped": True}, {f"{IMAGES}.gz": lambda whole: whole[:-12]}, "the compressed stream ends early"),
    "wrong sum": (
        {"zipped": True},
        {f"{IMAGES}.gz": lambda whole: whole[:-8] + b"\0\0\0\0" + whole[-4:]},
        "is not a sound gz file",
    ),
    "cut": ({}, {IMAGES: lambda whole: whole[:-3]}, "is truncated: 6×2×3 values need 36 bytes, got 33"),
    "header": ({}, {IMAGES: lambda _: b"\0\0\x08"}, "its header has 3 bytes, not 16"),
    "huge": ({}, {IMAGES: lambda _: struct.pack(">4I", 0x803, *[2**31] * 3)}, "at most 150000000 are read"),
}


@pytest.mark.parametrize("name", BROKEN_IDX)
def test_broken_idx_folders_are_refused(tmp_path: Path, name: str) -> None:
    how, spoiled, words = BROKEN_IDX[name]
    idx(tmp_path, **({"images": SOUND[0], "labels": SOUND[1]} | how))
    for file, spoil in spoiled.items():
        content = spoil((tmp_path / file).read_bytes())
        (tmp_path / file).unlink()
        if content:
            (tmp_path / file).write_bytes(content)
    with pytest.raises(DataError, match=words):
        load(f"idx:{tmp_path}")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds no samples"),
        ("1,2,0\n3,1\n", "line 2 has 2 fields; the first row has 3"),
        ("1,2,0\n3,x,1\n", "line 2, column 2: 'x' is not a number"),
        ("1,2,0\n3,nan,1\n", "row 2, column 2 is nan"),
        ("1,2,0\ninf,1,1\n", "row 2, column 1 is inf"),
        ("1,2,0\n3,4,nan\n", "row 2, the target is nan"),
        ("1,2,0\n3,4,\n", "row 2 has no target"),
        ("1\n2\n", "needs a feature and a target"),
    ],
)
def test_broken_csv_files_are_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "data.csv"
    path.write_text(text)
    with pytest.raises(DataError) as caught:
        load(f"csv:{path}")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("zipped", [True, False])
def test_libsvm_files_are_read_compressed_or_not(tmp_path: Path, zipped: bool) -> None:
    content = b"+1 1:0.5 3:2\n-1 2:1\n"
    path = tmp_path / "data"
    path.write_bytes(gzip.compress(content) if zipped else content)
    data = load(f"libsvm:{path}")
    assert data.features.tolist() == [[0.5, 0.0, 2.0], [0.0, 1.0, 0.0]]
    assert binary(data, "auto").tolist() == [1.0, -1.0]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"this is not\na data set\n", "is not in LIBSVM format"),
        pytest.param(gzip.compress(b"+1 1:0.5\n" * 1000)[:-10], "truncated", id="torn"),
        (b"+1 1:nan\n-1 1:0\n", "row 1, column 1 is nan"),
        (b"+1 200000000:1\n-1 1:1\n", "would be dense with 2×200000000"),
        (b"", "libsvm"),
    ],
)
def test_broken_libsvm_files_are_refused(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "data"
    path.write_bytes(content)
    with pytest.raises(DataError, match=words):
        load(f"libsvm:{path}")


def test_unknown_names_are_answered_with_the_nearest() -> None:
    with pytest.raises(SpecError, match=r"did you mean digits\?"):
        load("digit")
    with pytest.raises(SpecError, match="write csv:PATH"):
        load("csv:")
    for nowhere, words in (("csv", "no such file"), ("libsvm", "no such file"), ("idx", "is not a folder")):
        with pytest.raises(DataError, match=words):
            load(f"{nowhere}:/nowhere/at/all.csv")


def test_openml_says_what_it_needs_when_offline(monkeypatch: pytest.MonkeyPatch) -> None:
    from sklearn import datasets as bundled

    def offline(*_: object, **__: object) -> None:
        raise URLError("no network")

    monkeypatch.setattr(bundled, "fetch_openml", offline)
    with pytest.raises(DataError, match=r"cannot get 'adult' from OpenML .* needs the network once, then its cache"):
        load("openml:adult")


def test_openml_words_become_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    from sklearn import datasets as bundled

    answer = (np.array([[1.0], [2.0], [3.0]]), np.array(["b", "a", "b"], dtype=object))
    monkeypatch.setattr(bundled, "fetch_openml", lambda *_, **__: answer)
    assert load("openml:any").targets.tolist() == [1.0, 0.0, 1.0]


def test_a_missing_scikit_learn_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(MissingExtraError, match=r'pip install "boundlab\[data\]"'):
        load("digits")


def test_binary_targets_follow_the_chosen_labels() -> None:
    data = Dataset("ten", np.zeros((10, 1)), np.arange(10.0), 1.0)
    assert binary(data, "auto").tolist() == [-1.0] * 5 + [1.0] * 5
    assert binary(data, "even").tolist() == [1.0, -1.0] * 5
    assert binary(data, "odd").tolist() == [-1.0, 1.0] * 5
    assert binary(data, "0/3").tolist() == [1.0, -1.0, -1.0, 1.0] + [-1.0] * 6
    with pytest.raises(DataError, match="single class 4"):
        classes(Dataset("one", np.zeros((3, 1)), np.full(3, 4.0), 1.0))


def test_rows_can_be_normalised() -> None:
    data = Dataset("rows", np.array([[3.0, 4.0], [0.0, 0.0]]), np.array([0.0, 1.0]), 1.0)
    assert prepare(data, "auto", normalise=True, bias=False).tolist() == [[0.6, 0.8], [0.0, 0.0]]
    assert prepare(data, "range", normalise=False, bias=False).tolist() == [[1.0, 1.0], [0.0, 0.0]]


def test_short_names_are_what_lies_in_the_folder_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, place in (("mnist", "idx:PATH/mnist"), ("a9a", "libsvm:PATH/libsvm/a9a")):
        monkeypatch.delenv("BOUNDLAB_DATA", raising=False)
        with pytest.raises(DataError, match=f"BOUNDLAB_DATA, which is not set; set it, or write data={place}$"):
            load(name)
        monkeypatch.setenv("BOUNDLAB_DATA", str(tmp_path))
        with pytest.raises(DataError, match=f"data={name}: BOUNDLAB_DATA={tmp_path} holds no "):
            load(name)
    idx(tmp_path / "mnist", *pictures())
    assert load("mnist").features.shape == (6, 6)
    assert [path.parent for path in datasets.files_of("mnist")] == [tmp_path / "mnist"] * 2
    (tmp_path / "libsvm").mkdir()
    for name, count in (("a9a.t", 1), ("a9a", 2)):  # the training samples go before the test samples
        (tmp_path / "libsvm" / name).write_text("+1 1:0.5\n" * count)
        assert len(load("a9a").targets) == count
        assert datasets.files_of("a9a") == (tmp_path / "libsvm" / name,)
