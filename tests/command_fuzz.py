"""Random command lines over every command, option and kind of file: sensible ones, and ones with words replaced."""

import gzip
import json
import random
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import typer.main
from command_examples import CERTIFICATE, PLAN
from own_theorem import own_theorem

from boundlab.cli import FORMER
from boundlab.cli._app import application
from boundlab.errors import BoundlabError
from boundlab.instance.fitting import CompareOptions, fitting
from boundlab.registry import KINDS, registered
from boundlab.theorems import load_theorem

VSIM = Path(__file__).parent / "traces" / "vsim.log"
COMMANDS: Mapping[str, Any] = typer.main.get_command(application()).commands  # type: ignore[attr-defined]
# Commands, and forms of them by their former names, by how often they are drawn: a search or a check takes a thousand
# times as long as a list.
SHARES = {
    "list": 8,
    "show": 12,
    "eval": 16,
    "optimal-rate": 10,
    "constants": 6,
    "run": 20,
    "trace": 4,
    "fit": 4,
    "replay": 14,
    "compare": 24,
    "exact": 8,
    "check": 2,
    "worst-case": 2,
    "prove": 4,
    "recheck": 8,
    "falsify": 1,
    "audit": 1,
    "demo": 1,
    "sweep": 1,
    "results": 2,
    "new": 6,
    "doctor": 1,
    "schema": 2,
    "docs": 2,
}
FORMS = 0.8  # of the lines with a form of today; the others have the former name
FITTING = 0.65  # of the lines that ask for what fits, so that more than half of all reach a verdict
QUICK_PROOFS = ("classics.gd.convex", "classics.gd.strongly-convex", "classics.subgradient.fixed-step")
PROBLEMS = (
    "huber:c=[0,1],w=[1,1],delta=1,sigma=0,x0=2",
    "huber:c=[0],w=[1],delta=0.5,x0=1",
    "lad:x0=3",
    "quadratic",
    "quadratic:clients=2,dimension=2,sigma=1",
    "pseudo-huber:c=[0,2],w=[1,1],x0=1",
    "max-affine:a=[[[1],[-1]]],b=[[0,0]],x0=[1]",
    "logistic:data=csv:{csv},clients=2,nu=0.1",
    "softmax:data=libsvm:{libsvm},clients=2,batch=2",
    "hinge:data=idx:{idx},clients=2,nu=1,samples=6",
    "lad-regression:data=csv:{csv},clients=2,nu=1e-9,scale=none",
    "softmax:features=[[1],[2]],targets=[0,1],owners=[0,1]",
    "huber:c=@{list},w=@{list},x0=1",
)
DELAYS = (
    "deterministic",
    "deterministic:rates=[2,1]",
    "iid:p_s=0.5",
    "exponential",
    "exponential:rates=@{list}",
    "lognormal",
    "gamma:shape=2",
    "uniform",
    "two-speed",
    "markov",
    "per-step:steps=3",
    "truncated-normal",
    "pareto",
    "weibull",
    "trace:file={trace}",
)
SETTINGS = (
    "alpha=0.1",
    "eta_l=0.05",
    "eta=0.01",
    "eta_g=1",
    "M=2",
    "M=1",
    "K=2",
    "Q=2",
    "count=2",
    "reply=wait",
    "N=2",
    "p=0.5",
    "p_s=0.5",
    "L=1",
    "mu=0.1",
    "B=1",
    "R=1",
    "sigma=0",
    "sigma=1",
    "F0=1",
    "tau_max=0",
    "n=2",
    "start=algorithm",
    "rates=@{list}",
)
NOISE = (
    "",
    "=",
    "nan",
    "1e400",
    "-1",
    "0",
    "1e308",
    "-1e308",
    "1e-308",
    "∞",
    "λ‖é",
    "\udcff",
    "[[",
    "]",
    "@",
    "@/dev/zero",
    "../..",
    "0x10",
    "K=K",
    "x" * 300,
    "alpha=",
    "%s",
    "\0",
    "9" * 5000,
    "[/bold]",
    ":smile:",
    "1/0",
    "1e-300/1e300",
    "--",
    "--json",
    "-h",
    "{csv}",
    "{case}",
    "{theorem}",
    "{plugin}",
    "/dev/null",
    "/dev/full",
    "/",
    "é=1",
    "1,2,,3",
)
NASTY: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    0.5,
    1e308,
    -1e308,
    1e-308,
    10**4000,
    2**63,
    "",
    "x",
    "1/0",
    "1e999",
    "λ",
    "\udcff",
    "[/b]",
    [],
    {},
    [[]],
    [1, [2]],
    [[1, 2], [3]],
    {"type": "lad"},
    "@/dev/zero",
    "sqrt(-1)",
    "9**9**9",
    [1e308, -1e308],
    "nan",
)
CASES: tuple[dict[str, Any], ...] = (
    {
        "algorithm": "area",
        "problem": {"type": "lad"},
        "x0": [3],
        "parameters": {"alpha": "1/3"},
        "events": [[1, 0], [2, "s"]],
    },
    {
        "algorithm": "area",
        "problem": {"type": "huber", "c": [[0], [1]], "w": [[1], [1]], "delta": 1, "sigma": 1},
        "x0": [1],
        "parameters": {"M": 2},
        "delays": {"type": "iid", "p_s": 0.5},
        "iterations": 2,
    },
    {
        "algorithm": "fedbuff",
        "problem": {"type": "quadratic", "A": [[[1]]], "b": [[0]]},
        "x0": [1],
        "parameters": {"eta_l": 0.1, "count": 1},
        "events": [[1, 0], [2, 0]],
        "theorem": "fedbuff.rf1",
        "iterations": 2,
    },
)
THEOREM = (
    own_theorem(title="λ ≤ 1").replace("[options]", 'conditions = ["M <= 9"]\n[options]')
    + """[symbols.extra]
meaning = "more"
domain = "positive"
units = [0, 0]
"""
)
PLUGIN = """
from boundlab.delays import DelayType
def build(options, n):
    {statement}
BOUNDLAB = {{"delays": DelayType("mine", "mine", build, {{}})}}
"""
SCRIPT = """
from boundlab.prove import Range, Script, expr, run, scalar
def write(proof):
    x = proof.kernel.context.declare("x", Range(low=scalar(0)))
    one = proof.step("one", expr(x) {relation} expr({size} * x))
    proof.step("two", expr(x) >= 0, [one])
PROOFS = Script("mine", "λ", "nowhere", write, {proves!r})
"""
RAISED = (
    "raise BrokenPipeError(32, 'Broken pipe')",
    "raise SystemExit(1)",
    "raise SystemExit",
    "raise KeyboardInterrupt",
    "raise OSError(28, 'No space left on device')",
    "raise UnicodeEncodeError('ascii', 'λ', 0, 1, 'no')",
    "assert not 1",
    "raise RecursionError",
    "raise GeneratorExit",
    "raise BaseException('λ')",
    "raise ConnectionResetError",
    "1/0",
    "import click; raise click.exceptions.Exit(1)",
    "import click; raise click.Abort",
    "import sys; sys.stdout.close()",
    "import sys; sys.stdout = None",
    "print('λ'); raise ValueError('\\udcff')",
)


@cache
def comparison(theorem: str, trials: str) -> list[str]:
    """Return arguments of a comparison that a theorem is about; of the one that fits nothing built in, any."""
    statement = load_theorem(theorem)
    try:
        one = fitting(statement)[0]
    except BoundlabError:
        one = CompareOptions(statement, "lad:x0=3")
    server = [] if one.server is None else ["--server", one.server]
    chosen = [word for name, value in one.settings.items() for word in ("--set", f"{name}={value}")]
    return [
        theorem,
        "--problem",
        one.problem,
        "--delays",
        one.delays,
        *server,
        "-k",
        str(one.iterations),
        *chosen,
        "--trials",
        trials,
    ]


@dataclass
class Fuzz:
    """A source of random command lines, and of the files that they name.

    Parameters
    ----------
    place
        Where the files lie.
    """

    rng: random.Random
    place: Path
    statement: str = ""
    _made: int = field(default=0)
    _whole: bool = field(default=False)

    def line(self) -> list[str]:
        """Return a command line; most are meant seriously, and then a word of some is replaced."""
        command = self.rng.choices([*SHARES], [*SHARES.values()])[0]
        form = FORMER[command][0] if command in FORMER and self.rng.random() < FORMS else (command,)
        self._whole = not self.statement and command != "demo" and self.rng.random() < FITTING
        if self._whole:
            return [self._files(word) for word in [*form, *self._fitting(command)]]
        found = [*form, *self._serious(command)]
        if self.statement:
            found = ["--plugin", "{plugin}", *found]
        for _ in range(self.rng.choice((0, 0, 0, 0, 1, 1, 2))):
            found[self.rng.randrange(self.rng.choice((0, 1, 1, 1)), len(found))] = self.rng.choice(NOISE)
        if self.rng.random() < 0.1:
            found += self._option(form[0])
        return [self._files(word) for word in found]

    def _option(self, command: str) -> list[str]:
        """Return any option of a command, with a value from anywhere."""
        options = [
            one
            for one in COMMANDS[FORMER[command][0][0] if command in FORMER else command].params
            if one.opts and one.opts[0].startswith("--")
        ]
        if not options:
            return []
        one = self.rng.choice(options)
        return [self.rng.choice(one.opts), *([] if one.is_flag else [self.rng.choice((*NOISE, *SETTINGS))])]

    def _fitting(self, command: str) -> list[str]:
        """Return arguments to which the command has an answer."""
        rng, theorems = self.rng, registered("theorems")
        theorem = rng.choice(sorted(theorems))
        refuted = rng.choice([name for name, one in theorems.items() if one.refuted_by])
        small = rng.choice(("classics.gd.convex", "classics.gd.convex.book", "classics.gd.gradient"))
        told, shown = rng.choice(([], ["--json"], ["-q"], ["-v"])), rng.choice(([], ["--json"]))
        values = [f"--set={name}=1" for name in theorems[theorem].inputs() if name != "p"]
        algorithm = rng.choice(sorted(registered("algorithms")))
        options = registered("algorithms")[algorithm].parameters
        steps = [f"--set={one}=0.05" for one in ("alpha", "eta_l", "eta") if one in options]
        name, kind = f"mine{rng.randrange(10**6)}", rng.choice(("algorithm", "theorem", "problem", "delays", "metric"))
        case = rng.choice((["{case}"], ["{case}", "--json"], ["{case}", "--out", "{out}"]))
        arrivals = "iid:p_s=0.5" if algorithm == "area" else rng.choice(("exponential", "deterministic", "uniform"))
        run = ["--problem", rng.choice(("lad:x0=3", "huber:c=[0,1],x0=2", "quadratic:clients=2,dimension=2"))]
        made: dict[str, list[str]] = {
            "list": [rng.choice(("symbols", "theorems", "delays", "metrics", "problems", "algorithms")), *shown],
            "show": [theorem, *rng.choice(([], ["--latex"], ["--json"], ["--core"], ["--core", "--json"]))],
            "eval": [theorem, *values, *rng.choice(([], ["--terms"], ["--json"]))],
            "optimal-rate": ["--rates", rng.choice(("1,2", "10,10,2.5", "0.1,3")), *shown],
            "constants": [run[1], *shown],
            "run": [algorithm, *run, "--delays", arrivals, "-k", rng.choice(("1", "4")), "-r", "2", *steps, *shown],
            "trace": [*rng.choice((["{trace}"], ["{vsim}", "--as", "appfl"])), *shown],
            "fit": ["{trace}", *shown],
            "replay": case,
            "compare": [*comparison(theorem, str(rng.choice((2, 5, 20)))), *told],
            "exact": [refuted, *rng.choice(([], ["--json"], ["-q"], ["--derivation"]))],
            "check": [theorem, "--only", rng.choice(("units", "units,limits")), *told],
            "worst-case": [small, "-k", rng.choice(("1", "2")), *told],
            "prove": [rng.choice(QUICK_PROOFS), *rng.choice(([], ["-q"], ["--json"], ["-v"]))],
            "recheck": ["{certificate}", *told],
            "audit": [small, "--candidates", "1", "--budget", "1", *rng.choice(([], ["--html", "{out}"], ["-q"]))],
            "falsify": [rng.choice((small, "area.theorem8.fixed-step")), "--candidates", "2", "--out", "{out}", *told],
            "sweep": ["{plan}", "--dry-run"],
            "results": ["{folder}", *told],
            "new": [kind, name, "--out", "{folder}"],
            "doctor": rng.choice(([], ["--json"])),
            "schema": [rng.choice(("case", "theorem", "result", "error"))],
            "docs": [rng.choice(("verdicts", "area", "theorems#left-sides"))],
        }
        return made[command]

    def _serious(self, command: str) -> list[str]:
        """Return arguments that mostly fit each other."""
        rng, theorems = self.rng, registered("theorems")
        theorem = rng.choice((*sorted(theorems), "{theorem}", "{theorem}"))
        if command in ("compare", "exact") and rng.random() < 0.5:
            theorem = rng.choice(("area.theorem8", "area.theorem8.repaired", "fedbuff.rf1", "area.theorem7.explicit"))
        name = rng.choice(sorted(registered("algorithms")))
        algorithm = registered("algorithms")[name]
        settings = [word for one in rng.sample(SETTINGS, rng.choice((0, 0, 0, 1, 2))) for word in ("--set", one)]
        steps = [f"--set={one}=0.05" for one in ("alpha", "eta_l", "eta") if one in algorithm.parameters]
        inputs = theorems[theorem].inputs() if theorem in theorems else ("p_s", "qbar", "R", "M", "K", "B", "sigma")
        values = [f"--set={one}={rng.choice((1, 2, '1:9:log')) if one == 'K' else 1}" for one in inputs if one != "p"]
        delays = "mine" if self.statement else rng.choice(DELAYS)
        run = ["--problem", rng.choice(PROBLEMS), "--delays", delays, "-k", str(rng.choice((1, 2, 3, 5)))]
        run += ["-r", "2", "-s", str(rng.randrange(5))]
        if rng.random() < 0.1:
            run += ["--server", rng.choice(("poisson:rate=2", "count:every=2", "periodic:every=1"))]
        file = rng.choices(([], ["--out", "{out}"], ["--out", rng.choice(("/dev/full", "{folder}"))]), (6, 3, 1))[0]
        folder = rng.choices(([], ["--out", rng.choice(("{out}", "{folder}"))], ["--out", "{csv}"]), (6, 3, 1))[0]
        told = rng.choice(([], [], ["--json"], ["-q"], ["-v"]))
        shown, exact = rng.choice(([], [], ["--json"])), rng.choice(([], [], ["--exact"]))
        rates = rng.choice(("1,2", "10,10,2.5", "0,1", "@{list}", "1e99,1e-99"))
        proof = rng.choice((*sorted(registered("proofs")), "{script}", "{script}"))
        step = rng.choice(("conclusion", "one", "square", "together"))
        new = rng.choice(("algorithm", "theorem", "problem", "delays", "metric", "check", "proof", "proofs"))
        told_of_proofs = [], ["--latex"], ["--json"], ["--step", step], ["--step", step, "--json"], ["-q"], ["-v"]
        audited = rng.choice(("classics.gd.convex", "area.theorem9", "{csv}"))
        page = rng.choice(([], ["--html", "{out}"], ["--md", "/dev/full"], ["--json", "{folder}"], ["-q"], ["-v"]))
        made: dict[str, list[str]] = {
            "list": [rng.choice((*KINDS, "symbols")), *rng.choice(([], [], ["a"], ["no such word"])), *shown],
            "sweep": [rng.choice(("{plan}", "{csv}", "{case}")), *folder, *told],
            "results": [rng.choice(("{folder}", "{csv}")), *rng.choice(([], ["--where", "M > 3"])), *told],
            "new": [new, rng.choice(("mine", "my-own", "1", "class", "a/b", "")), *folder],
            "doctor": rng.choice((["--json"], ["{script}"], ["{csv}"])),
            "schema": [rng.choice(("case", "theorem", "result", "error", "../x"))],
            "docs": [rng.choice(("verdicts", "area#", "theorems#nothing", "../x", "#"))],
            "show": [theorem, *rng.choice(([], ["--latex"], ["--json"]))],
            "eval": [theorem, *values, *settings, *rng.choice(([], ["--terms"], ["--csv"], ["--json"]))],
            "optimal-rate": ["--rates", rates, *rng.choice(([], ["--objective", "per-time"])), *shown],
            "constants": [rng.choice(("lad", "huber:c=[0,1],x=2", "logistic:data=nothing", "zzz", "")), *shown],
            "run": [name, *run, *steps, *settings, *shown, *file],
            "trace": [
                rng.choice(("{trace}", "{vsim}", "{csv}", "{case}")),
                *rng.choice(([], ["--as", "appfl"], ["--map", "time=a,client=b"], ["--map", "tim=x"])),
                *shown,
                *file,
            ],
            "fit": [rng.choice(("{trace}", "{vsim}", "{csv}")), *rng.choice(([], ["--as", "appfl"])), *shown],
            "replay": ["{case}", *shown, *file],
            "compare": [theorem, *run, *settings, *told, *folder, *exact],
            "exact": [theorem, "{case}", *told],
            "check": [theorem, "--only", rng.choice(("units", "limits")), *told],
            "worst-case": [theorem, "-k", "1", *settings, *told, *file],
            "prove": [proof, *rng.choice(([], *told_of_proofs))],
            "recheck": [rng.choice(("{certificate}", "{certificate}", "{case}", "{csv}")), *told],
            "audit": [audited, "--candidates", "1", "--budget", "1", *page],
            "falsify": [theorem, "--candidates", "2", *told, *folder],
            "demo": ["--seed", "many", "--out", rng.choice(("{csv}", "/dev/null", "/"))],  # it takes half a minute
        }
        return made[command]

    def _files(self, word: str) -> str:
        """Write the files that a word names."""
        makers: dict[str, Callable[[Path], None]] = {
            "csv": self._csv,
            "libsvm": self._libsvm,
            "idx": self._idx,
            "list": self._list,
            "trace": self._trace,
            "vsim": lambda path: path.write_bytes(self._spoiled(VSIM.read_bytes())) and None,
            "case": self._case,
            "certificate": self._certificate,
            "theorem": self._theorem,
            "plugin": self._plugin,
            "script": self._script,
            "plan": lambda path: path.write_bytes(self._spoiled(PLAN.encode())) and None,
            "out": lambda _path: None,
            "folder": lambda path: path.mkdir(exist_ok=True),
        }
        for name, make in makers.items():
            if f"{{{name}}}" in word:
                self._made += 1
                suffix = {"theorem": ".toml", "plan": ".toml", "plugin": ".py", "script": ".py"}.get(name, "")
                path = self.place / f"{name}{self._made}{suffix}"
                make(path)
                word = word.replace(f"{{{name}}}", str(path))
        return word

    def _spoiled(self, content: bytes) -> bytes:
        """Return a content as it is, cut, or with bytes replaced."""
        kind = self.rng.random()
        if self._whole or kind < 0.8 or not content:
            return content
        if kind < 0.9:
            return content[: self.rng.randrange(len(content))]
        at = self.rng.randrange(len(content))
        wrong = self.rng.choice((b"\xff", b"\0", b'"', b"1e308,", b"-" * 9, b"nan", b"\n\n"))
        return content[:at] + wrong + content[at + 1 :]

    def _number(self) -> str:
        return self.rng.choice(("0", "1", "-2.5", "1e9", "1e-9", "1e308", "-1e308", "0.1", "3", "7e20"))

    def _csv(self, path: Path) -> None:
        wild = self.rng.random() < 0.3
        number = self._number if wild else lambda: f"{self.rng.gauss(0, 1):.3f}"
        rows = [f"{number()},{number()},{line % 2}" for line in range(8)]
        path.write_bytes(self._spoiled("\n".join(["a,b,y", *rows]).encode()))

    def _libsvm(self, path: Path) -> None:
        text = "".join(f"{line % 3} 1:{self.rng.random():.3f} {2 + line % 2}:{self._number()}\n" for line in range(9))
        raw = self._spoiled(text.encode())
        path.write_bytes(self._spoiled(gzip.compress(raw)) if self.rng.random() < 0.5 else raw)

    def _idx(self, path: Path) -> None:
        path.mkdir()
        images = struct.pack(">4I", 0x803, 8, 1, 2) + bytes(range(16))
        (path / "train-images-idx3-ubyte").write_bytes(self._spoiled(images))
        (path / "train-labels-idx1-ubyte").write_bytes(self._spoiled(struct.pack(">2I", 0x801, 8) + bytes([0, 1] * 4)))

    def _list(self, path: Path) -> None:
        path.write_bytes(self._spoiled(self.rng.choice((b"1\n2\n", b"3,1 # two\n", b"1\n", b"1e308 1\n"))))

    def _trace(self, path: Path) -> None:
        path.write_bytes(self._spoiled(b"time,client\n" + b"".join(b"%d,%d\n" % (t, t % 2) for t in range(1, 40))))

    def _certificate(self, path: Path) -> None:
        self._json(CERTIFICATE, path)

    def _case(self, path: Path) -> None:
        self._json(CASES[0] if self._whole else self.rng.choice(CASES), path)

    def _json(self, example: Any, path: Path) -> None:
        case = json.loads(json.dumps(example))
        if not self._whole and self.rng.random() < 0.4:
            self._replace(case, self.rng.choice(NASTY))
        path.write_bytes(self._spoiled(json.dumps(case).encode()))

    def _replace(self, tree: Any, value: Any) -> None:
        """Put a value somewhere into nested lists and objects."""
        keys = list(tree) if isinstance(tree, dict) else list(range(len(tree)))
        key = self.rng.choice(keys)
        if isinstance(tree[key], (dict, list)) and tree[key] and self.rng.random() < 0.7:
            self._replace(tree[key], value)
        else:
            tree[key] = value

    def _theorem(self, path: Path) -> None:
        lines = THEOREM.splitlines()
        if self.rng.random() < 0.6:
            at = self.rng.randrange(len(lines))
            key, sign, _ = lines[at].partition(" = ")
            words = ('""', '"λ"', "0x" + "f" * 4000, "1e308", "[]", '"[/b]"', '"1/0"', "true", '"x**K"', '"K!"', "nan")
            odd = self.rng.choice(("[x]", "[terms]", "", "a.b.c = 1"))
            lines[at] = f"{key}{sign}{self.rng.choice(words)}" if sign else odd
        path.write_bytes(self._spoiled("\n".join(lines).encode()))

    def _script(self, path: Path) -> None:
        relation, size = self.rng.choice(("<=", ">=")), self.rng.choice(("2", "0", "-1", "1/3", "x"))
        proves = self.rng.choice(("", "", "classics.gd.convex", "fedfa.theorem1", "λ"))
        path.write_bytes(self._spoiled(SCRIPT.format(relation=relation, size=size, proves=proves).encode()))

    def _plugin(self, path: Path) -> None:
        text = PLUGIN.format(statement=self.statement or "raise ValueError")
        path.write_text(text, encoding="utf-8", errors="replace")
