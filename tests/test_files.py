"""Whole files or nothing."""

import json

import pytest
from hypothesis import given, strategies as st

from boundlab.errors import CaseError, OutputError
from boundlab.files import folder, json_text, read_json, read_text, replacing, write_json


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path):
    target = tmp_path / "result.json"
    write_json(target, {"a": 1})
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json(target, {"a": float("nan")})

    def half():
        with replacing(target) as temporary:
            temporary.write_text("half")
            raise RuntimeError("power cut")

    with pytest.raises(RuntimeError):
        half()
    assert json.loads(target.read_text()) == {"a": 1}
    assert [path.name for path in tmp_path.iterdir()] == ["result.json"]


def test_a_byte_order_mark_is_no_part_of_a_text(tmp_path):
    for text in ("{}", "\ufeff{}"):
        (tmp_path / "case.json").write_text(text, encoding="utf-8")
        assert read_text(tmp_path / "case.json", CaseError) == "{}"
        assert read_json(tmp_path / "case.json", CaseError) == {}


def test_a_missing_folder_is_one_clear_line(tmp_path):
    with pytest.raises(OutputError, match=r"cannot write .*No such file"):
        write_json(tmp_path / "no" / "result.json", {})


def test_a_file_in_the_way_of_a_folder_is_refused(tmp_path):
    (tmp_path / "out").write_text("")
    with pytest.raises(OutputError, match="cannot write into"):
        folder(tmp_path / "out")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "line 1"),
        ("[NaN]", "NaN is not a number"),
        ("\xff", "not UTF-8"),
        ("[" * 100_000, "nested too deeply|line 1"),
    ],
)
def test_bad_json_says_where(tmp_path, text, message):
    file = tmp_path / "case.json"
    file.write_bytes(text.encode("latin-1"))
    with pytest.raises(CaseError, match=message):
        read_json(file)


def test_an_absent_file_is_named(tmp_path):
    with pytest.raises(CaseError, match=r"cannot read .*absent"):
        read_json(tmp_path / "absent.json")


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text('[1,\n "s]', max_size=6),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("[1\n]", max_size=3), inner, max_size=3),
    max_leaves=12,
)


@given(JSON)
def test_a_file_holds_the_value_that_was_written(value):
    assert json.loads(json_text(value)) == value


def test_a_row_of_numbers_and_an_event_are_a_line_each():
    assert json_text({"A": [[1.0, -2.5e-7], [3, 4]], "events": [[0.5, 0], [1, "s"], [2, 0, "step"]]}).splitlines() == [
        "{", ' "A": [', "  [1.0, -2.5e-07],", "  [3, 4]", " ],",
        ' "events": [', "  [0.5, 0],", '  [1, "s"],', '  [2, 0, "step"]', " ]", "}",
    ]  # fmt: skip
