"""Tables of one's own: which columns are read, who owns a row, and that all media of a table say the same."""

import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from boundlab.case import build_problem, problem_from
from boundlab.errors import BoundlabError, DataError, MissingExtraError, SpecError
from boundlab.options import device_order
from boundlab.problems import data
from boundlab.problems.data import Wanted, files_of, load

HEADED = "time,a,device,label,b\n" + "".join(
    f"{1700000000 + k},{k}.5,{name},{k % 2},{k * k % 5}\n" for k, name in enumerate(["10", "9", "10", "2", "9", "2"])
)


@pytest.fixture
def table(tmp_path: Path) -> str:
    (tmp_path / "own.csv").write_text(HEADED)
    return str(tmp_path / "own.csv")


def parquet(path: Path, columns: dict[str, Any]) -> None:
    pa = pytest.importorskip("pyarrow", reason="Parquet files need pyarrow")
    import pyarrow.parquet

    pyarrow.parquet.write_table(pa.table(columns), path)


def message(call: Any) -> str:
    """Return the one line that answers a call."""
    with pytest.raises((SpecError, DataError)) as caught:
        call()
    assert "\n" not in str(caught.value)
    return str(caught.value)


# ---- which columns ----------------------------------------------------------------------------------------------


def test_with_a_header_the_target_must_be_named(table: str) -> None:
    said = message(lambda: load(f"csv:{table}"))
    assert said.endswith("has the columns time, a, device, label, b; say which one is the target: target=NAME")


@pytest.mark.parametrize(
    "wanted", [Wanted("label", ("a", "b"), "device"), Wanted("4", ("2", "5"), "3"), Wanted("label", ("a", "5"), "3")]
)
def test_columns_are_named_or_numbered_from_1_and_the_names_are_kept(table: str, wanted: Wanted) -> None:
    data = load(f"csv:{table}", wanted)
    assert data.features.tolist() == [[k + 0.5, k * k % 5] for k in range(6)]
    assert data.targets.tolist() == [0, 1, 0, 1, 0, 1]
    assert data.chosen == {"target": "label", "columns": ["a", "b"], "by": "device"}


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (Wanted("lable"), "has no column 'lable' for target; did you mean label?"),
        (Wanted("6"), "has no column '6' for target; known: "),
        (Wanted("0"), "has no column '0' for target; known: "),
        (Wanted("label", ("a", "a")), "'a' is named twice among columns, target and sample_weight"),
        (Wanted("label", ("a", "label")), "'label' is named twice among columns"),
        (Wanted("label", sample_weight="label"), "'label' is named twice among columns"),
        (Wanted("label", ("a", "b"), sample_weight="b"), "'b' is named twice among columns"),
        (Wanted("label", ("a",), "dev"), "has no column 'dev' for by; did you mean device?"),
    ],
)
def test_a_column_that_is_not_there_or_stands_twice_is_refused(table: str, wanted: Wanted, words: str) -> None:
    assert words in message(lambda: load(f"csv:{table}", wanted))


def test_a_feature_that_is_no_number_is_named_with_its_place(tmp_path: Path) -> None:
    file = tmp_path / "words.csv"
    file.write_text("a,when,y\n1,noon,0\n")
    assert message(lambda: load(f"csv:{file}", Wanted("y"))) == (
        f"{file}, line 2, column 2 (when): 'noon' is not a number; columns=[…] names the columns that are features"
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b,a\n1,2,3\n", "has two columns called 'a'"),
        ("a,,\n1,2,3\n", "say which one is the target"),
        ("id,2019,y\n1,2,3\n", "line 1, column 1: 'id' is not a number"),
        ("2019,2020,y\n1,2,3\n", "line 1, column 3: 'y' stands above the number 3, beside numbers"),
        ('"a,b",y\n1,0\n2\n', "say which one is the target"),
        ('1,0\n"2,1\n', "it is not a CSV text"),
        ("a,y\n", "say which one is the target"),
        ("y\n1\n", "has the columns y; say which one is the target"),
        ("\ufeff\n", "holds no samples"),
    ],
)
def test_what_is_neither_a_header_nor_a_sample_is_refused(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "text.csv"
    file.write_text(text, encoding="utf-8")
    assert words in message(lambda: load(f"csv:{file}"))


def test_marks_of_byte_order_line_ends_and_quotes_change_nothing(tmp_path: Path) -> None:
    file = tmp_path / "excel.csv"
    file.write_bytes('\ufeff"a, in m",y\r\n"1",no\r\n\r\n"2",yes\r\n'.encode())
    data = load(f"csv:{file}", Wanted("y"))
    assert (data.features.tolist(), data.targets.tolist()) == ([[1.0], [2.0]], [0.0, 1.0])
    assert data.chosen["columns"] == ["a, in m"]
    spec = problem_from(f"logistic:data=csv:{file},target=y,clients=1").spec()
    assert build_problem(spec.pop("type"), spec).spec() == {"type": "logistic", **spec}


@pytest.mark.parametrize("reader", ["libsvm:x", "idx:x", "mnist:x", "openml:x"])
def test_data_without_columns_have_none_to_choose(reader: str) -> None:
    for wanted in (Wanted("y"), Wanted(columns=("1",)), Wanted(by="d")):
        assert "has no columns to choose; target, columns, by and sample_weight go with csv, npz" in message(
            lambda wanted=wanted: load(reader, wanted)
        )


# ---- clients ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["logistic", "least-squares", "softmax", "hinge"])
def test_a_table_split_by_a_column_is_the_problem_of_its_arrays_and_owners(table: str, kind: str) -> None:
    options = "target=label,columns=[a,b],partition=column,by=device,nu=0.1,scale=none"
    read = problem_from(f"{kind}:data=csv:{table},{options}")
    rows = [[k + 0.5, k * k % 5] for k in range(6)]
    given = {"features": rows, "targets": [k % 2 for k in range(6)], "owners": [2, 1, 2, 0, 1, 0]}
    same = build_problem(kind, {**given, "nu": 0.1, "bias": True})
    assert {name: one.as_dict() for name, one in read.constants().items()} == {
        name: one.as_dict() for name, one in same.constants().items()
    }
    assert np.array_equal(read.optimum().x, same.optimum().x)
    assert read.optimum().value == same.optimum().value


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("partition=column", "partition=column needs by=NAME"),
        ("by=device", "by belongs to another partition than iid; add partition=column"),
        ("by=device,partition=class", "by belongs to another partition than class; add partition=column"),
        ("partition=column,by=device,a=1", "a belongs to another partition than column; add partition=dirichlet"),
        ("partition=column,by=device,clients=4", "clients=4, but the column device of"),
        ("partition=column,by=device,samples=2", "leaves no sample of device"),
        ("columns=[]", "columns names no column; write columns=[a,b]"),
    ],
)
def test_options_of_a_split_by_a_column_that_do_not_fit_are_refused(table: str, options: str, words: str) -> None:
    assert words in message(lambda: problem_from(f"logistic:data=csv:{table},target=label,{options}"))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"partition": "column", "by": "d"}, "partition=column goes with data; with features give owners"),
        ({"target": "y"}, "give target or features and targets, not both"),
        ({"columns": ["y"]}, "give columns or features and targets, not both"),
    ],
)
def test_arrays_in_the_options_have_no_columns(options: dict[str, Any], words: str) -> None:
    given = {"features": [[1.0], [2.0]], "targets": [0, 1]}
    assert words in message(lambda: build_problem("logistic", {**given, **options}))


def test_a_sample_without_a_client_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "own.csv"
    file.write_text("d,a,y\nx,1,0\n ,2,1\n")
    said = message(lambda: load(f"csv:{file}", Wanted("y", (), "d")))
    assert said.endswith("row 2 has no value of 'd', which names its client")
    np.savez(tmp_path / "own.npz", X=np.eye(2), y=[0, 1], d=[1.0, np.nan])
    assert "row 2 has no value of 'd'" in message(lambda: load(f"npz:{tmp_path / 'own.npz'}", Wanted(by="d")))


def test_names_of_devices_may_have_any_length() -> None:
    assert device_order(["9" * 5000, "10"]) == ["10", "9" * 5000]


# ---- media ------------------------------------------------------------------------------------------------------

WHOLE = st.integers(-(2**31), 2**31)
REAL = st.floats(-1e9, 1e9, allow_subnormal=False)
ROWS = st.integers(1, 3).flatmap(
    lambda p: st.lists(
        st.tuples(st.lists(REAL, min_size=p, max_size=p), st.integers(0, 1), WHOLE), min_size=2, max_size=6
    )
)


@given(ROWS)
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_table_is_the_same_problem_in_every_medium(tmp_path: Path, rows: list[tuple[list[float], int, int]]) -> None:
    X, y, d = np.array([row[0] for row in rows]), [row[1] for row in rows], [row[2] for row in rows]
    w = [1.0 + k % 3 for k in range(len(rows))]
    p = X.shape[1]
    names = [f"x{k}" for k in range(p)]
    text = "".join(",".join(map(repr, [*row, *more])) + "\n" for row, *more in zip(X.tolist(), y, d, w, strict=True))
    (tmp_path / "plain.csv").write_text(text)
    (tmp_path / "headed.csv").write_text(",".join([*names, "y", "d", "w"]) + "\r\n" + text.replace("\n", "\r\n"))
    np.savez(tmp_path / "own.npz", X=X, y=y, d=d, w=w)
    np.savez_compressed(tmp_path / "flat.npz", **dict(zip(names, X.T, strict=True)), y=y, d=d, w=w)  # type: ignore[arg-type]
    np.save(tmp_path / "own.npy", np.column_stack([X, y, d, w]))
    parquet(tmp_path / "own.parquet", {**dict(zip(names, X.T, strict=True)), "y": y, "d": list(map(str, d)), "w": w})
    split = "partition=column,nu=0.1"
    found = [
        problem_from(f"least-squares:data={place}:{tmp_path / file},target={target},by={by},sample_weight={w},{split}")
        for place, file, target, by, w in (
            ("csv", "plain.csv", p + 1, p + 2, p + 3),
            ("csv", "headed.csv", "y", "d", "w"),
            ("npz", "own.npz", "y", "d", "w"),
            ("npz", "flat.npz", "y", "d", "w"),
            ("npy", "own.npy", p + 1, p + 2, p + 3),
            ("parquet", "own.parquet", "y", "d", "w"),
        )
    ]
    first = found[0]
    assert first.d == p + 1  # with the intercept: weights are no feature
    for problem in found:
        for key in ("X", "y", "sizes", "relative"):
            assert np.array_equal(getattr(problem, key), getattr(first, key)), key
        spec = problem.spec()
        again = build_problem(spec.pop("type"), spec)
        assert again.spec() == problem.spec()
        assert np.array_equal(again.X, problem.X)  # type: ignore[attr-defined]


def test_arrays_have_their_names_and_a_table_of_them_numbers(tmp_path: Path) -> None:
    file = tmp_path / "own.npz"
    np.savez(file, other=np.array([[7.0], [8.0]]), X=[[1.0, 2.0], [3.0, 4.0]], y=np.array(["no", "yes"]), age=[30, 40])
    default = load(f"npz:{file}")
    assert default.features.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert (default.targets.tolist(), default.chosen) == ([0.0, 1.0], {"target": "y", "columns": [1, 2]})
    assert load(f"npz:{file}", Wanted("age", ("2", "other"))).features.tolist() == [[2.0, 7.0], [4.0, 8.0]]
    assert load(f"npz:{file}", Wanted("other", ("X",))).chosen == {"target": "other", "columns": [1, 2]}
    assert load(f"npz:{file}", Wanted("2")).features.tolist() == [[1.0], [3.0]]
    assert "target=X has 2 columns; name one column" in message(lambda: load(f"npz:{file}", Wanted("X")))
    np.savez(file, A=np.eye(2), B=np.eye(2), y=[0, 1])
    assert "has the tables A, B; say which one" in message(lambda: load(f"npz:{file}"))
    assert load(f"npz:{file}", Wanted(columns=("B",))).features.tolist() == [[1.0, 0.0], [0.0, 1.0]]
    np.savez(file, y=np.ones((2, 1)), X=np.zeros((2, 1)), age=[30, 40])
    assert load(f"npz:{file}").chosen == {"target": "y", "columns": ["X"]}
    np.savez(file, A=np.eye(2), labels=[0, 1])
    assert "say which one is the target" in message(lambda: load(f"npz:{file}"))


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"X": np.array([[1, "x"]], dtype=object), "y": [0]}, "or holds objects, which are not read"),
        ({"X": np.ones((3, 2)), "y": [0, 1]}, "column 1 has 3 entries, and the target 2"),
        ({"X": np.ones((2, 2)), "y": [0, 1], "1": [5, 6]}, "has two columns called '1'"),
        ({"X": np.array([[1.0, np.nan], [1.0, 2.0]]), "y": [0, 1]}, "row 1, column 2 is nan"),
        ({"X": np.ones((2, 2)), "y": [0, np.inf]}, "row 2, the target is inf"),
        ({"X": np.ones((2, 2), dtype=complex), "y": [0, 1]}, "holds a column of complex128"),
        ({"X": np.ones((2, 2), dtype="M8[s]"), "y": [0, 1]}, "holds a column of datetime64[s]"),
        ({"X": np.array([["1", "x"]]), "y": [0]}, "row 1, column 2: 'x' is not a number; columns=[…]"),
        ({"X": np.array([[b"1", b"\xff"]]), "y": [0]}, "is not a number"),
        ({"X": np.ones((0, 2)), "y": []}, "holds no samples"),
        ({"X": np.ones((2, 0)), "y": [0, 1]}, "has no column left for the features"),
        ({"y": [0, 1]}, "has no column left for the features"),
        ({"X": np.ones((2, 2, 2)), "y": [0, 1]}, "has no column left for the features"),
        ({"X": np.ones((1, 2_000_000), dtype=np.int8), "y": [0]}, "at most 1000000 are taken"),
    ],
)
def test_arrays_that_are_no_samples_are_refused(tmp_path: Path, arrays: dict[str, Any], words: str) -> None:
    np.savez_compressed(tmp_path / "own.npz", **arrays)
    assert words in message(lambda: load(f"npz:{tmp_path / 'own.npz'}"))


@pytest.mark.parametrize("kind", ["npz", "npy", "parquet"])
def test_files_that_are_none_of_their_kind_are_refused(tmp_path: Path, kind: str) -> None:
    if kind == "parquet":
        pytest.importorskip("pyarrow", reason="Parquet files need pyarrow")
    file = tmp_path / f"own.{kind}"
    np.savez(tmp_path / "sound.npz", X=np.ones((40, 2)), y=np.arange(40) % 2)
    sound = (tmp_path / "sound.npz").read_bytes()
    contents = (
        b"",
        b"nothing",
        b"1,2\n",
        pickle.dumps([1, 2]),
        sound[:200],
        sound[:-40],
        sound[:300] + b"!" + sound[301:],
    )
    for content in contents:
        file.write_bytes(content)
        assert "is no sound" in message(lambda: load(f"{kind}:{file}")), content
    assert "there is no such file" in message(lambda: load(f"{kind}:{tmp_path / 'none'}"))
    assert "it is a folder" in message(lambda: load(f"{kind}:{tmp_path}"))


@given(st.data())
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_spoiled_files_give_a_problem_or_one_line(tmp_path: Path, data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from(["csv", "npz", "npy", "parquet"]))
    file = tmp_path / f"own.{kind}"
    rows = np.array([[1.0, 2.0, 0.0], [3.0, 4.0, 1.0]])
    if kind == "csv":
        file.write_text('d,a,y\nx,1,0\n"y,z",2,1\n')
    elif kind == "npz":
        np.savez(file, X=rows, y=[0, 1], d=["x", "y"])
    elif kind == "npy":
        np.save(file, rows)
    else:
        parquet(file, {"d": ["x", "y"], "a": [1, 2], "y": [0, 1]})
    content = bytearray(file.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    file.write_bytes(content[: data.draw(st.integers(0, len(content)))] if data.draw(st.booleans()) else content)
    wanted = Wanted() if kind == "npy" else Wanted("y", (), "d")
    said = ""
    try:
        assert np.isfinite(load(f"{kind}:{file}", wanted).features).all()
    except BoundlabError as error:
        said = str(error)
    assert "\n" not in said


def test_arrays_of_other_axes_are_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "own.npy", np.ones(3))
    assert "holds an array of 1 axes" in message(lambda: load(f"npy:{tmp_path / 'own.npy'}"))
    np.save(tmp_path / "own.npy", np.array([[1, None]]), allow_pickle=True)
    assert "or holds objects" in message(lambda: load(f"npy:{tmp_path / 'own.npy'}"))


@pytest.mark.parametrize("kind", ["npz", "parquet"])
def test_a_file_that_unpacks_to_more_than_can_be_held_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    file = tmp_path / f"own.{kind}"
    if kind == "npz":
        np.savez_compressed(file, X=np.ones((200, 2)), y=np.arange(200) % 2)
    else:
        parquet(file, {"a": np.arange(200), "y": np.arange(200) % 2})
    assert len(load(f"{kind}:{file}", Wanted("y")).targets) == 200
    monkeypatch.setattr(data, "_BYTES", 1000)
    assert "unpacks to more than 0 MiB" in message(lambda: load(f"{kind}:{file}", Wanted("y")))


def test_columns_of_parquet_files_are_numbers_or_text(tmp_path: Path) -> None:
    from datetime import datetime

    file = tmp_path / "own.parquet"
    columns: dict[str, Any] = {"a": [1, 2], "y": ["no", "yes"], "hole": [1.5, None], "empty": ["x", None]}
    columns |= {"when": [datetime(2026, 1, 1)] * 2, "list": [[1], [2]], "flag": [True, False]}
    parquet(file, columns)
    assert load(f"parquet:{file}", Wanted("y", ("a", "flag"))).features.tolist() == [[1.0, 1.0], [2.0, 0.0]]
    assert load(f"parquet:{file}", Wanted("y", ("a",))).targets.tolist() == [0.0, 1.0]
    for column, words in (
        ("hole", "row 2, column hole is nan"),
        ("empty", "'x' is not a number"),
        ("when", "holds a column of datetime64"),
        ("list", "row 1 holds a"),
    ):
        assert words in message(lambda column=column: load(f"parquet:{file}", Wanted("y", (column,))))
    assert "row 2 has no value of 'empty'" in message(lambda: load(f"parquet:{file}", Wanted("y", ("a",), "empty")))
    assert "has the columns a, y, hole" in message(lambda: load(f"parquet:{file}"))


def test_the_index_of_a_frame_is_no_feature(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas", reason="frames need pandas")
    pytest.importorskip("pyarrow", reason="Parquet files need pyarrow")
    pd.DataFrame({"a": [1, 2], "y": [0, 1]}, index=[7, 9]).to_parquet(tmp_path / "own.parquet")
    assert load(f"parquet:{tmp_path / 'own.parquet'}", Wanted("y")).chosen["columns"] == ["a"]


def test_a_missing_pyarrow_names_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r'pip install "boundlab\[parquet\]"'):
        load(f"parquet:{tmp_path / 'own.parquet'}")


def test_every_table_is_a_file_of_its_problem() -> None:
    for kind in ("csv", "npz", "npy", "parquet", "libsvm"):
        assert files_of(f"{kind}:some.file") == (Path("some.file"),)
    assert files_of("sklearn:iris") == files_of("digits") == ()


# ---- scikit-learn -----------------------------------------------------------------------------------------------


def test_what_comes_with_scikit_learn_is_found_by_its_name() -> None:
    assert load("sklearn:iris").features.shape == (150, 4)
    assert np.array_equal(load("sklearn:digits").features, load("digits").features)
    assert (load("sklearn:wine").chosen, load("sklearn:digits").unit) == ({}, 16.0)
    assert "did you mean wine?" in message(lambda: load("sklearn:wines"))
    assert "write sklearn:NAME" in message(lambda: load("sklearn:"))
    for name in ("files", "svmlight_file", "sample_image"):
        assert "brings no data set" in message(lambda name=name: load(f"sklearn:{name}"))
