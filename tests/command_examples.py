"""One quick command line for each command and each of its forms: what the tests of all commands run."""

from collections.abc import Mapping, Sequence

RUN = ("--problem=lad:x0=3", "--delays=iid:p_s=0.5", "--iterations=6", "--set=M=50")
# Command, or form of one → arguments, of which {case} is a case file, {law} one over random events,
# {certificate} a certificate. The verdict of the last four is the one that its name says.
QUICK: Mapping[str, Sequence[str]] = {
    "list": ("list", "delays"),
    "show": ("show", "fedcompass.theorem1"),
    "eval": ("eval", "area.theorem8", *(f"--set={one}" for one in ("p=0.5", "M=50", "B=1", "sigma=0", "R=3", "K=6"))),
    "optimal-rate": ("optimal-rate", "--rates=1,2"),
    "constants": ("constants", "huber:x0=3"),
    "run": ("run", "fedbuff", "--problem=huber", "--set=eta_l=0.1", "--iterations=5", "--trials=2"),
    "trace": ("trace", "trace.csv"),
    "trace --fit": ("trace", "trace.csv", "--fit"),
    "run CASE": ("run", "{case}"),
    "check": ("check", "area.theorem7", "--only=units"),
    "compare": ("compare", "area.theorem8", *RUN, "--trials=200"),
    "exact": ("exact", "area.theorem8", "{law}"),
    "worst-case": ("worst-case", "classics.gd.convex", "--iterations=1"),
    "prove": ("prove", "area.optimal-rate"),
    "prove --recheck": ("prove", "{certificate}", "--recheck"),
    "worst-case --recheck": ("worst-case", "{certificate}", "--recheck"),
    "sweep": ("sweep", "{plan}", "--out={swept}", "--jobs=1"),
    "sweep DIR": ("sweep", "{swept}"),
    "new": ("new", "theorem", "mine", "--out={fresh}"),
    "doctor": ("doctor",),
    "docs --schema": ("docs", "case", "--schema"),
    "docs": ("docs", "verdicts"),
    "falsify": ("falsify", "fedstaleweight.theorem1", "--candidates=60"),
    "audit": ("audit", "classics.gd.convex", "--candidates=20", "--budget=20"),
}
SLOW: Mapping[str, Sequence[str]] = {
    "demo": ("demo", "--out={folder}"),
}
CASE = {
    "algorithm": "area",
    "problem": {"type": "quadratic", "A": [[[1]]], "b": [[0]], "sigma": 1},
    "x0": [1],
    "parameters": {"alpha": 1},
    "events": [[1, 0], [2, "s"]],
}
LAW = {
    "algorithm": "area",
    "problem": {"type": "lad"},
    "x0": [3],
    "parameters": {"M": 50},
    "delays": {"type": "iid", "p_s": 0.5},
    "iterations": 6,
}
# ‖x_0‖² ≤ 1 proves that ‖x_0‖² is at most 1.
CERTIFICATE = {
    "schema": "boundlab worst-case certificate 1",
    "kind": "upper",
    "claim": "‖x_0‖²",
    "value": "1",
    "basis": ["x_0"],
    "values": [],
    "functions": [],
    "objective": {"gram": [[0, 0, "1"]]},
    "remainder": [],
    "rows": [
        {"kind": "given", "words": "‖x_0‖² ≤ 1", "form": {"gram": [[0, 0, "1"]], "constant": "-1"}, "multiplier": "1"}
    ],
}

FILES = {"case": CASE, "law": LAW, "certificate": CERTIFICATE}
# Two devices, of which the second is the slower one.
TRACE = "time,client,dispatch\n1,a,0\n2.5,b,0\n2.75,a,1\n4,a,2.75\n6,b,2.5\n"
PLAN = """
theorems = ["classics.gd.convex"]
[run]
ask = "worst-case"
iterations = 1
"""


def quick(command: str) -> list[str]:
    """Return a quick call of a command; the files that it names are those of FILES in the folder where it runs.

    {fresh} and {folder}, which two commands write into, stay as they are.
    """
    named = {name: f"{name}.json" for name in FILES} | {"plan": "plan.toml", "swept": "swept"}
    names = {**named, "fresh": "{fresh}", "folder": "{folder}"}
    return [word.format(**names) for word in {**QUICK, **SLOW}[command]]
