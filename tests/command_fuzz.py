"""Random command lines over every command, option and kind of file: sensible ones, and ones with words replaced."""

import gzip
import json
import random
import re
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
TOLD = "<|--json|-q|-v>"
SMALL = "classics.gd.convex|classics.gd.convex.book|classics.gd.gradient"
SPOKEN = ("area.theorem8", "area.theorem8.repaired", "fedbuff.rf1", "area.theorem7.explicit")
ASKED = "$problem $delays -k <1|2|3|5> -r 2 -s <0|1|2|3|4> <|||||||||$server> $settings"
# Command → words to which it has an answer: one of each <a|b>, and what $words stand for.
ANSWERED: Mapping[str, str] = {
    "list": "<symbols|theorems|delays|metrics|problems|algorithms> <|--json>",
    "show": "$theorem <|--latex|--json|--core|--core --json>",
    "eval": "$theorem $values <|--terms|--json>",
    "optimal-rate": "--rates <1,2|10,10,2.5|0.1,3> <|--json>",
    "constants": "<lad:x0=3|huber:c=[0,1],x0=2|quadratic:clients=2,dimension=2> <|--json>",
    "run": "$algorithm --problem <lad:x0=3|huber:c=[0,1],x0=2|quadratic:clients=2,dimension=2> $arrivals -k <1|4> -r 2",
    "trace": "<{trace}|{vsim} --as appfl> <|--json>",
    "fit": "{trace} <|--json>",
    "replay": "{case} <|--json|--out {out}>",
    "compare": f"$comparison {TOLD}",
    "exact": "$refuted <|--json|-q|--derivation>",
    "check": f"$theorem --only <units|units,limits> {TOLD}",
    "worst-case": f"<{SMALL}> -k <1|2> {TOLD}",
    "prove": f"<{'|'.join(QUICK_PROOFS)}> {TOLD}",
    "recheck": f"{{certificate}} {TOLD}",
    "audit": f"<{SMALL}> --candidates 1 --budget 1 <|--html {{out}}|-q>",
    "falsify": f"<{SMALL}|area.theorem8.fixed-step> --candidates 2 --out {{out}} {TOLD}",
    "sweep": "{plan} --dry-run",
    "results": f"{{folder}} {TOLD}",
    "new": "<algorithm|theorem|problem|delays|metric> $mine --out {folder}",
    "doctor": "<|--json>",
    "schema": "<case|theorem|result|error>",
    "docs": "<verdicts|area|theorems#left-sides>",
}
# The same with words that mostly fit each other.
SERIOUS: Mapping[str, str] = {
    **ANSWERED,
    "list": f"<{'|'.join((*KINDS, 'symbols'))}> <||a|no-such-word> <|--json>",
    "sweep": f"<{{plan}}|{{csv}}|{{case}}> <|--out {{out}}|--out {{folder}}|--out {{csv}}> {TOLD}",
    "results": f"<{{folder}}|{{csv}}> <|--where M=3> {TOLD}",
    "new": "<algorithm|theorem|problem|delays|metric|check|proof|proofs> <mine|my-own|1|class|a/b> <|--out {out}>",
    "doctor": "<--json|{script}|{csv}>",
    "schema": "<case|theorem|result|error|../x>",
    "docs": "<verdicts|area#|theorems#nothing|../x|#>",
    "eval": "$theorem $values $settings <|--terms|--csv|--json>",
    "optimal-rate": "--rates <1,2|10,10,2.5|0,1|@{list}|1e99,1e-99> <|--objective per-time> <|--json>",
    "constants": "<lad|huber:c=[0,1],x=2|logistic:data=nothing|zzz> <|--json>",
    "run": f"$algorithm {ASKED} <|--json> <||--out {{out}}|--out /dev/full>",
    "trace": "<{trace}|{vsim}|{csv}|{case}> <|--as appfl|--map time=a,client=b|--map tim=x> <|--json> <|--out {out}>",
    "fit": "<{trace}|{vsim}|{csv}> <|--as appfl> <|--json>",
    "replay": "{case} <|--json> <||--out {out}|--out /dev/full>",
    "compare": f"$theorem {ASKED} {TOLD} <||--out {{out}}|--out {{csv}}> <||--exact>",
    "exact": f"$theorem {{case}} {TOLD}",
    "worst-case": f"$theorem -k 1 $settings {TOLD} <||--out {{out}}|--out /dev/full>",
    "prove": "$proof <|--latex|--json|-q|-v|--step conclusion|--step one --json>",
    "recheck": f"<{{certificate}}|{{case}}|{{csv}}> {TOLD}",
    "audit": "<classics.gd.convex|area.theorem9|{csv}> --candidates 1 --budget 1 <|--html {out}|--md /dev/full|-q|-v>",
    "falsify": f"$theorem --candidates 2 {TOLD} <||--out {{out}}|--out {{csv}}>",
    "demo": "--seed many --out <{csv}|/dev/null|/>",  # it takes half a minute
}
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
    _theorem_asked: str = field(default="")

    def line(self) -> list[str]:
        """Return a command line; most are meant seriously, and then a word of some is replaced."""
        command = self.rng.choices([*SHARES], [*SHARES.values()])[0]
        form = FORMER[command][0] if command in FORMER and self.rng.random() < FORMS else (command,)
        self._whole = not self.statement and command != "demo" and self.rng.random() < FITTING
        if self._whole:
            return [self._files(word) for word in [*form, *self._words(ANSWERED, command)]]
        found = [*form, *self._words(SERIOUS, command)]
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

    def _words(self, forms: Mapping[str, str], command: str) -> list[str]:
        """Return the words of a form: one of each <a|b>, and what stands for $words of it."""
        chosen = re.sub(r"<([^<>]*)>", lambda found: self.rng.choice(found[1].split("|")), forms[command])
        return [word for one in chosen.split() for word in (self._meant(one[1:]) if one.startswith("$") else [one])]

    def _meant(self, word: str) -> list[str]:
        rng, theorems = self.rng, registered("theorems")
        if word == "theorem":
            own = () if self._whole else (*SPOKEN, "{theorem}", "{theorem}")
            self._theorem_asked = rng.choice((*sorted(theorems), *own))
            return [self._theorem_asked]
        if word == "comparison":
            return comparison(rng.choice(sorted(theorems)), str(rng.choice((2, 5, 20))))
        known = theorems.get(self._theorem_asked)
        inputs = ("p_s", "qbar", "R", "M", "K", "B", "sigma") if known is None else known.inputs()
        name = rng.choice(sorted(registered("algorithms")))
        steps = [one for one in ("alpha", "eta_l", "eta") if one in registered("algorithms")[name].parameters]
        several = "1" if self._whole else rng.choice(("1", "1:9:log"))
        found: dict[str, list[str]] = {
            "values": [f"--set={one}={several if one == 'K' else 1}" for one in inputs if one != "p"],
            "refuted": [rng.choice([name for name, one in theorems.items() if one.refuted_by])],
            "algorithm": [name, *(f"--set={one}=0.05" for one in steps)],
            "arrivals": ["--delays", rng.choice(("iid:p_s=0.5", "exponential", "deterministic", "uniform"))],
            "problem": ["--problem", rng.choice(PROBLEMS)],
            "delays": ["--delays", "mine" if self.statement else rng.choice(DELAYS)],
            "server": ["--server", rng.choice(("poisson:rate=2", "count:every=2", "periodic:every=1"))],
            "proof": [rng.choice((*sorted(registered("proofs")), "{script}", "{script}"))],
            "settings": [word for one in rng.sample(SETTINGS, rng.choice((0, 0, 0, 1, 2))) for word in ("--set", one)],
            "mine": [f"mine{rng.randrange(10**6)}"],
        }
        return found[word]

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
