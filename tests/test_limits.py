"""What is read is bounded: whatever a file holds, the answer is one line after a limited amount of work."""

import gzip
import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from boundlab.cli import invoke
from boundlab.verdict import ExitCode

HUGE = "9" * 5000
RUN = ("run", "area", "--set=alpha=1", "--iterations=3", "--trials=1")
CASE = {
    "algorithm": "area",
    "problem": {"type": "lad"},
    "x0": [1],
    "parameters": {"alpha": 1},
    "events": [[1, 0]],
}
# Command lines of which {zero}, {fifo}, {long}, {bomb}, … are files that no command may take.
REFUSED = [
    ("optimal-rate", "--rates=@/dev/zero"),
    ("optimal-rate", "--rates=@{fifo}"),
    ("optimal-rate", "--rates=@{numbers}"),
    ("optimal-rate", "--rates=@{large}"),
    (*RUN, "--delays=exponential:rates=@/dev/zero"),
    (*RUN, "--delays=trace:file=/dev/zero"),
    (*RUN, "--delays=trace:file={fifo}"),
    ("trace", "/dev/zero"),
    ("trace", "{bomb}"),
    ("fit", "{fifo}"),
    ("fit", "{lines}"),
    ("trace", "{zeros}"),
    (*RUN, "--problem=huber:c=@/dev/zero"),
    (*RUN, "--problem=logistic:data=csv:/dev/zero"),
    (*RUN, "--problem=logistic:data=csv:{fifo}"),
    (*RUN, "--problem=logistic:data=csv:{lines}"),
    (*RUN, "--problem=logistic:data=libsvm:/dev/zero"),
    (*RUN, "--problem=logistic:data=libsvm:{bomb}"),
    (*RUN, "--problem=logistic:data=libsvm:{wide}"),
    (*RUN, "--problem=softmax:data=idx:{idx}"),
    (*RUN, "--problem=softmax:features=[[1],[2]],targets=[0,1],owners=[0,99999999]"),
    (*RUN, "--problem=softmax:features=[[1],[2]],targets=[0,1],owners=[0,0.5]"),
    (*RUN, "--problem=logistic:data=csv:" + "x" * 300),
    (*RUN, "--problem=logistic:data=idx:" + "x" * 300),
    (*RUN, "--problem=logistic:data=csv:{huge}"),
    (*RUN, "--problem=quadratic:clients=100000000"),
    (*RUN, "--problem=quadratic:dimension=100000000"),
    ("replay", "/dev/zero"),
    ("replay", "{fifo}"),
    ("replay", "/dev/stdin"),
    ("replay", "x" * 300),
    ("replay", "{integer}"),
    ("replay", "{deep}"),
    ("exact", "area.theorem8", "{integer}"),
    ("worst-case", "area.theorem8", "--p=0.5", "--events=/dev/zero"),
    ("prove", "{fifo}"),
    ("prove", "/dev/zero.py"),
    ("prove", "x" * 300 + ".py"),
    ("check", "/dev/zero.toml"),
    ("check", "{toml}"),
    ("check", "{hex}"),
    ("show", "x/" * 3000),
    ("show", "x" * 300 + ".toml"),
    ("--plugin=/dev/zero", "list"),
    ("--plugin={fifo}", "list"),
    (*RUN, "--seed=" + HUGE),
    (*RUN, "--set=M=" + HUGE),
    ("eval", "area.theorem8", "--set=K=" + HUGE),
]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    place = tmp_path_factory.mktemp("limits")
    names = ("fifo", "numbers", "large", "lines", "bomb", "wide", "idx", "huge", "integer", "deep", "zeros")
    made = {name: place / name for name in names}
    made |= {"toml": place / "integer.toml", "hex": place / "hex.toml", "fifo": place / "fifo.py"}
    os.mkfifo(made["fifo"])
    made["numbers"].write_text("1 " * 1_000_001)
    with made["large"].open("wb") as stream:
        stream.truncate(17 * 2**20)
    made["lines"].write_bytes(b"1,0\n" * 1_000_001)
    made["bomb"].write_bytes(gzip.compress(b"1 1:1\n" * 4_500_000, compresslevel=1))
    made["zeros"].write_bytes(gzip.compress(bytes(65 * 2**20), compresslevel=1))
    made["wide"].write_text("1 1:1 150000001:1\n")
    made["huge"].write_text("1e308,0\n-1e308,1\n1,1\n")
    made["idx"].mkdir()
    for name, header in (
        ("train-images-idx3-ubyte", [0x803, 2**16, 2**8, 2**8]),
        ("train-labels-idx1-ubyte", [0x801, 1]),
    ):
        (made["idx"] / name).write_bytes(b"".join(one.to_bytes(4, "big") for one in header))
    made["integer"].write_text(json.dumps(CASE).replace('"alpha": 1', f'"alpha": {HUGE}'))
    made["deep"].write_text("[" * 100_000)
    made["toml"].write_text(f'id = "x"\nmetric = "gap"\n[terms]\na = {HUGE}\n')
    made["hex"].write_text(f'id = "x"\nmetric = "gap"\n[step]\nalpha = "alpha"\n[terms]\na = 0x{HUGE}\n')
    return made


@pytest.mark.sweep(22)
@pytest.mark.parametrize("arguments", REFUSED, ids=lambda words: " ".join(words)[-50:])
def test_what_has_no_end_or_no_measure_is_refused_in_one_line(
    arguments: tuple[str, ...], files: dict[str, Path], capsys: Any
) -> None:
    line = [word if "{" not in word else word.format(**files) for word in arguments]
    assert invoke(line) == ExitCode.USAGE
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("boundlab: ")
    assert err.count("\n") == 1
    assert len(err) < 7000


@pytest.mark.nightly
def test_a_file_of_45_million_lines_is_refused_with_little_memory(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "criteo.gz", "wb", compresslevel=1) as stream:
        for _ in range(45):
            stream.write(b"1 1:1\n" * 1_000_000)

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (4 * 2**30, 4 * 2**30))

    done = subprocess.run(
        [sys.executable, "-m", "boundlab", *RUN, f"--problem=logistic:data=libsvm:{tmp_path / 'criteo.gz'}"],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=limited,
        timeout=120,
    )
    assert (done.returncode, done.stderr.count("\n")) == (ExitCode.USAGE, 1)
    assert "more than 1000000 lines" in done.stderr
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 2**20  # KiB


def test_features_that_drown_the_regulariser_in_rounding_are_no_crash(tmp_path: Path, capsys: Any) -> None:
    rows = [f"{(-1) ** i * 1e6 * (1 + i % 7)},{1e-3 * (i % 5)},{1e9 * (i % 11)},{i % 2}" for i in range(60)]
    (tmp_path / "unscaled.csv").write_text("\n".join(rows))
    for kind in ("logistic", "softmax", "hinge", "lad-regression"):
        problem = f"--problem={kind}:data=csv:{tmp_path / 'unscaled.csv'},clients=2,scale=none,nu=1e-9"
        assert invoke([*RUN, problem]) in (ExitCode.STANDS, ExitCode.USAGE)
        assert capsys.readouterr().err.count("\n") <= 1
