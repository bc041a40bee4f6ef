"""Whole files or nothing."""

import json

import pytest

from boundlab.errors import CaseError, OutputError
from boundlab.files import folder, read_json, replacing, write_json


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
