"""Make the questions: every theorem × what fits × its judges, all files of all formats, and nonsense.

They are made once and recorded. A later tree asks those that are recorded: what fits a theorem is then no question of
the tree.
"""

import contextlib
import json
import random
import shlex
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import boundlab as bl
from benchmarks.golden.ask import captured
from benchmarks.golden.lines import HERE, Line
from boundlab.algorithms.example_options import settings as options_of
from boundlab.case import problem_from
from boundlab.errors import BoundlabError
from boundlab.formulas.symbols import SYMBOLS
from boundlab.instance.fitting import PROBLEMS, CompareOptions, fitting
from boundlab.options import parse_spec
from boundlab.registry import registered
from boundlab.theorems import Theorem, load_theorem

ROOT = Path(__file__).parents[2]
DELAYS = (
    "exponential", "deterministic:spread=3", "deterministic", "iid:p_s=0.3", "lognormal:spread=2", "uniform:width=1",
    "gamma:shape=2", "weibull", "pareto", "truncated-normal", "two-speed", "markov", "per-step:steps=3",
)  # fmt: skip
HORIZONS = (0, 1, 3, 8, 20)


def spec(name: str, options: Mapping[str, Any]) -> str:
    """Return a spec as it is typed."""
    words = (f"{key}={value if isinstance(value, str) else json.dumps(value)}" for key, value in options.items())
    return f"{name}:" + ",".join(words).replace(" ", "") if options else name


def families() -> list[str]:
    """Return problems of every family: the declared examples, those that theorems are fitted to, and data."""
    declared = [spec(name, one) for name, kind in registered("problems").items() for one in kind.examples]
    data = [
        "logistic:data=breast_cancer,clients=4,partition=iid,nu=0.1",
        "logistic:data=breast_cancer,clients=4,partition=dirichlet,nu=0,batch=8",
        "hinge:data=breast_cancer,clients=3,nu=0.1",
        "least-squares:data=diabetes,clients=3,nu=1",
        "softmax:data=digits,samples=60,clients=3,nu=0.1",
    ]
    return list(dict.fromkeys([*declared, *PROBLEMS, *data]))


@dataclass
class Made:
    """Questions with their numbers, and the files that they name."""

    lines: list[Line] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)
    _seen: set[tuple[str, ...]] = field(default_factory=set)
    _counts: dict[str, int] = field(default_factory=dict)

    def add(self, kind: str, words: Sequence[str], tags: Iterable[str] = (), files: Iterable[str] = ()) -> None:
        """Add a question, once."""
        words = [str(word) for word in words]
        if tuple(words) in self._seen:
            return
        self._seen.add(tuple(words))
        number = self._counts[kind] = self._counts.get(kind, 0) + 1
        self.lines.append(Line(f"{kind}/{number:04}", words, sorted({kind, *tags}), sorted(files)))

    def file(self, name: str, content: bytes | str) -> str:
        """Keep a file, and return its name."""
        self.files[name] = content.encode() if isinstance(content, str) else content
        return name


def made() -> Made:
    """Return all questions."""
    found = Made()
    everything = [*_registered(), *_in_files(found)]
    for theorem, typed, files in everything:
        _of_theorem(found, theorem, typed, files)
        sys.stdout.write(f"{len(found.lines)} after {typed}\n")
    _runs(found)
    _proofs(found)
    _cases(found)
    _nouns(found)
    _rates(found)
    _logs(found)
    _users(found)
    _fuzzed(found)
    _notebooks(found)
    _sharp(found)
    return found


def with_sharp(lines: Sequence[Line], files: Mapping[str, bytes]) -> Made:
    """Return what is recorded with what has come since: the questions that let no wrong number pass."""
    found = Made(list(lines), dict(files), {tuple(one.words) for one in lines}, Counter(one.kind for one in lines))
    _sharp(found)
    return found


Stated = tuple[Theorem, str, list[str]]


def _registered() -> Iterator[Stated]:
    for name, theorem in registered("theorems").items():
        yield theorem, name, []


def _in_files(found: Made) -> Iterator[Stated]:
    """Yield the literature's theorems and those of the battery."""
    sys.path.insert(0, str(ROOT / "tests" / "battery"))
    from referee.claims import Claim

    texts = {
        path.stem: path.read_text("utf-8") for path in sorted((ROOT / "benchmarks/literature/theorems").glob("*.toml"))
    }
    texts |= {
        f"battery-{path.stem}": Claim.read(path).text() for path in sorted((ROOT / "tests/battery/theorems").iterdir())
    }
    for stem, text in texts.items():
        name = found.file(f"{stem}.toml", text)
        path = Path("/tmp") / f"golden-{name}"  # noqa: S108
        path.write_text(text, encoding="utf-8")
        try:
            yield load_theorem(str(path)), name, [name]
        except BoundlabError as error:
            sys.stdout.write(f"{name}: {error}\n")
        finally:
            path.unlink()


def _of_theorem(found: Made, theorem: Theorem, typed: str, files: list[str]) -> None:
    tags = [f"algorithm:{theorem.algorithm}"]
    found.add("check", ["check", typed, "--json"], tags, files)
    found.add("core", ["core", typed], tags, files)
    try:
        own = fitting(theorem, most=2)
    except BoundlabError:
        own = ()
    settings = dict(own[0].settings) if own else {}
    compared, refused = 0, 0
    for place, problem in enumerate(families()):
        family = f"family:{parse_spec(problem, 'problem')[0]}"
        for delays in (own[0].delays if own else "exponential", DELAYS[(place + len(typed)) % len(DELAYS)]):
            asked = CompareOptions(theorem, problem, delays, None, HORIZONS[3], settings)
            most = 12 if not files else 4
            if compared < most and asked.fits:
                compared += 1
                _compared(found, asked, typed, [*tags, family, f"delays:{delays.partition(':')[0]}"], files)
            elif refused < 2 and not asked.fits:
                refused += 1
                found.add("refused", [*_words(asked, typed), "--json"], [*tags, family], files)
    for asked in own[:1]:
        _evaluated(found, asked, typed, tags, files)
    if theorem.left.in_seconds:
        return
    for horizon in (1, 2, 3):
        given = ["--set", "mu=0.25"] if "mu" in theorem.inputs() else []
        steps = [word for name in theorem.free() & {"alpha"} for word in ("--set", f"{name}=0.5")]
        words = ["worst-case", typed, "-k", str(horizon), *given, *steps, "--json"]
        if horizon < 3 or not files:
            found.add("worst-case", words, [*tags, "engine:sdp"], files)


def _words(asked: CompareOptions, typed: str, *more: str) -> list[str]:
    words = shlex.split(asked.command(typed))[1:]
    place = words.index("--set") if "--set" in words else len(words)
    return [*words[:place], *more, *words[place:]]


def _compared(found: Made, asked: CompareOptions, typed: str, tags: list[str], files: list[str]) -> None:
    count = len(found.lines)
    several = asked.theorem.horizon != "every" and not asked.theorem.left.in_seconds
    if several and count % 3 == 0:
        asked = replace(asked, iterations=[3, 8])
    elif not asked.theorem.left.in_seconds:
        asked = replace(asked, iterations=HORIZONS[2 + count % 3])
    way = (("--sampled", "engine:sampled"), ("--exact", "engine:exact"), ("", "engine:auto"), ("", "engine:auto"))[
        count % 4
    ]
    backend = ["--backend", "torch"] if count % 17 == 0 else ["--backend", "compiled"] if count % 17 == 5 else []
    more = [*([way[0]] if way[0] else []), *backend]
    engine = f"engine:{backend[1]}" if backend else way[1]
    found.add(
        "compare", [*_words(asked, typed, *more), "-r", "8", "--seed", str(count % 5), "--json"], [*tags, engine], files
    )


def _evaluated(found: Made, asked: CompareOptions, typed: str, tags: list[str], files: list[str]) -> None:
    try:
        plan = asked.plan(trials=2)
    except BoundlabError:
        return
    values = {name: one for name, one in plan.values.items() if name in asked.theorem.inputs() or name == "p"}
    for grid in ("", "1:1000:log"):
        given = {**values, **({asked.theorem.horizon_symbol: grid} if grid else {})}
        words = [f"--set={name}={_typed(one)}" for name, one in given.items() if name != "n" or "p" not in given]
        found.add("eval", ["eval", typed, *words, "--json"], tags, files)


def _typed(value: Any) -> str:
    return ",".join(map(repr, value.tolist())) if hasattr(value, "tolist") and getattr(value, "ndim", 0) else f"{value}"


def _runs(found: Made) -> None:
    problems = ("huber:clients=3,dimension=2,sigma=0.2,x0=2", "quadratic:clients=3,dimension=2,mu=0.1,x0=1",
                "lad:c=[0,1,3],x0=2", "logistic:data=breast_cancer,clients=3,nu=0.1,batch=4")  # fmt: skip
    for name, algorithm in registered("algorithms").items():
        for place, chosen in enumerate(options_of(name, algorithm, 3, 6)):
            for turn in range(2):
                problem = problems[(place + turn) % len(problems)]
                delays = DELAYS[(place * 2 + turn) % len(DELAYS)]
                words = ["run", name, "-p", problem, "-d", delays, "-k", "12", "-r", "2", *_set(chosen), "--json"]
                found.add("run", words, [f"algorithm:{name}", f"family:{problem.partition(':')[0]}"])


def _proofs(found: Made) -> None:
    for name in registered("proofs"):
        found.add("prove", ["prove", name, "--json"])
    for name, theorem in registered("theorems").items():
        if theorem.refuted_by:
            found.add("exact", ["exact", name, "--json"], [f"algorithm:{theorem.algorithm}", "engine:fractions"])
    for name in ("area.theorem8", "area.theorem8.fixed-step", "area.theorem8.printed-start", "fedfa.theorem1",
                 "fedcompass.theorem1", "afl_dga.theorem1", "fedstaleweight.theorem1", "classics.gd.convex",
                 "classics.gd.gradient", "classics.delayed-sgd", "area.theorem8.repaired", "fedbuff.rf1"):  # fmt: skip
        words = ["falsify", name, "--candidates", "6", "--budget", "600", "--json"]
        found.add("falsify", words, [f"algorithm:{load_theorem(name).algorithm}"])


def _cases(found: Made) -> None:
    """Old files: cases over random events and over explicit ones, certificates, proofs."""
    for path in sorted((ROOT / "proofs" / "counterexamples").glob("*.json")):
        case = found.file(f"counterexample-{path.name}", path.read_bytes())
        theorem = json.loads(path.read_text("utf-8")).get("theorem", path.stem)
        found.add("exact", ["exact", theorem, f"{HERE}/{case}", "--json"], ["engine:fractions"], [case])
        found.add("replay", ["replay", f"{HERE}/{case}", "--json"], [], [case])
    number = 0
    for name, theorem in registered("theorems").items():
        try:
            own = fitting(theorem, most=3)
        except BoundlabError:
            continue
        for asked in own:
            given = {**asked.asked(), "iterations": None if theorem.left.in_seconds else 4}
            try:
                case = bl.compare(name, **given, trials=2).case
            except BoundlabError:  # the horizon is too short for it
                continue
            file, tags = _exactly(found, name, theorem, case, f"case-{number:03}.json")
            if "events" in case:
                found.add("replay", ["replay", f"{HERE}/{file}", "--json"], tags, [file])
            number += 1
    for theorem in [one for one in registered("theorems") if one.startswith("classics.")]:
        for horizon in (1, 2):
            _certificate(found, theorem, horizon)
    for name in registered("proofs"):
        with tempfile.TemporaryDirectory() as place:
            path = Path(place) / "proof.json"
            _quietly(["prove", name, "--trace", str(path)])
            if path.exists():
                file = found.file(f"proof-{name}.json", path.read_bytes())
                found.add("recheck", ["recheck", f"{HERE}/{file}", "--json"], ["engine:recheck"], [file])


def _certificate(found: Made, theorem: str, horizon: int) -> None:
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "certificate.json"
        for more in ([], ["--set", "alpha=0.5"], ["--set", "mu=0.25"], ["--set", "alpha=0.5", "--set", "mu=0.25"]):
            _quietly(["worst-case", theorem, "-k", str(horizon), *more, "--certificate", str(path)])
            if path.exists():
                file = found.file(f"certificate-{theorem}-{horizon}.json", path.read_bytes())
                found.add("recheck", ["recheck", f"{HERE}/{file}", "--json"], ["engine:recheck"], [file])
                return


def _quietly(words: Sequence[str]) -> None:
    from boundlab.cli import invoke

    with captured():
        invoke(words)


def _nouns(found: Made) -> None:
    draw = random.Random(11)  # noqa: S311
    specs = families()
    for name, kind in registered("problems").items():
        for one in kind.examples:
            for _ in range(10):
                changed = {**one}
                if "seed" in kind.options or "clients" in one:
                    changed |= {"seed": draw.randrange(1000), "x0": round(draw.uniform(-3, 3), 2)}
                if "nu" in one:
                    changed["nu"] = round(10 ** draw.uniform(-3, 1), 3)
                if draw.random() < 0.3:
                    changed[draw.choice(("ball", "box"))] = 3 if draw.random() < 0.5 else [-2, 2]
                if draw.random() < 0.2:
                    changed["l1"] = 0.1
                specs.append(spec(name, changed))
    for one in dict.fromkeys(specs):
        found.add("constants", ["constants", one], [f"family:{one.partition(':')[0]}"])
    for name, algorithm in registered("algorithms").items():
        for place, chosen in enumerate(options_of(name, algorithm, 3, 0)[:12]):
            for turn in (0, 1):
                delays = DELAYS[(2 * place + turn) % len(DELAYS)]
                found.add("draws", ["draws", name, json.dumps(chosen), delays, "3"], [f"algorithm:{name}"])


SMALL = (
    "huber:c=[1.5,2],delta=5,x0=1.75,sigma=0.25,noise=sign",
    "huber:c=[0.5],delta=4,x0=2,sigma=0.5,noise=sign",
    "huber:c=[[1,2],[2,1]],delta=8,x0=[0.5,1],sigma=0.25,noise=sign",
    "quadratic:A=[[[2,1],[1,3]],[[1,0],[0,2]]],b=[[0,1],[1,-1]],x0=[2,1],sigma=0.25,noise=sign",
    "quadratic:A=[[[2]],[[3]]],b=[[1],[1]],x0=2",
    "least-squares:features=[[1,0],[1,1],[0,2],[1,-1]],targets=[1,3,-1,0],owners=[0,0,1,1],batch=1,nu=0.5",
    "lad:c=[-2,0,4],w=[1,3,1],x0=3,sigma=0.5,noise=sign",
)


WEIGHED = (
    "huber:c=[[1,2],[2,1]],delta=8,x0=[0.5,1],sigma=0.25,noise=sign,direction=[0.6,0.8]",
    "lad:c=[[1,2],[2,1]],x0=[0.5,1],sigma=0.25,noise=sign,direction=[3,4]",
    "quadratic:A=[[[2,1],[1,3]],[[1,0],[0,2]]],b=[[0,1],[1,-1]],x0=[2,1],sigma=0.25,noise=sign,direction=[0.6,0.8]",
    *(
        f"{kind}:features=[[1,0],[1,1],[0,2],[1,-1],[2,1]],targets={targets},owners=[0,0,1,1,1],{more},weights={weights}"
        for kind, targets in (
            ("least-squares", "[1,3,-1,0,2]"), ("logistic", "[1,0,1,0,1]"), ("hinge", "[1,0,1,0,1]"),
            ("softmax", "[0,1,2,1,0]"), ("lad-regression", "[1,3,-1,0,2]"),
        )
        for more in ("batch=1,nu=0.5", "nu=0", "batch=2,nu=0.1,replacement=no")
        for weights in ("paper", "size")
    ),
)  # fmt: skip


def _weighed() -> list[str]:
    """Return problems on uneven data whose clients weigh differently, with and without sets, batches, regularisers."""
    draw, found = random.Random(17), []  # noqa: S311
    rows = "features=[[1,0],[1,1],[0,2],[1,-1],[2,1],[-1,0.5]],owners=[0,0,0,1,1,2]"
    targets = {"least-squares": "[1,3,-1,0,2,1]", "lad-regression": "[1,3,-1,0,2,1]", "softmax": "[0,1,2,1,0,2]",
               "logistic": "[1,0,1,0,1,1]", "hinge": "[1,0,1,0,1,1]", "poisson": "[0,1,3,1,0,2]"}  # fmt: skip
    for name, values in targets.items():
        for place in range(12):
            more = [
                f"weights={('paper', 'size', 'equal')[place % 3]}",
                *(("batch=1",), ("batch=2", "replacement=no"), ())[place // 2 % 3],
                *(("nu=0",), (f"nu={draw.uniform(0.05, 2):.2f}",))[place % 2],
                *(("ball=2",), ("box=[-0.5,0.25]",), (), ("l1=0.25",))[place // 3 if name != "poisson" else 1],
                f"x0={draw.uniform(-0.4, 0.2):.2f}",
            ]
            found.append(f"{name}:{rows},targets={values},{','.join(more)}")
    for name in ("huber", "pseudo-huber", "lad"):
        for place in range(8):
            numbers = [[round(draw.uniform(-2, 2), 1) for _ in range(2)] for _ in range(3)]
            weights = [[round(draw.uniform(0.2, 3), 1) for _ in range(2)] for _ in range(3)]
            size = "" if name == "lad" else f",delta={draw.uniform(0.3, 2):.1f}"
            more = [size, ("", ",ball=2", ",l1=0.5", ",sigma=0.25")[place % 4]]
            found.append(f"{name}:c={numbers},w={weights},x0=[0.5,-1]".replace(" ", "") + "".join(more))
    return found


def _varied() -> list[str]:
    """Return generated problems of each family with other sizes, seeds, curvatures, noises and sets."""
    draw, found = random.Random(29), []  # noqa: S311
    for name, kind in registered("problems").items():
        if "seed" not in kind.options or "data" in kind.options:
            continue
        for place in range(9):
            chosen: dict[str, Any] = {"clients": 2 + place % 3, "dimension": 1 + place % 4, "seed": 40 + place}
            chosen |= {"L": round(draw.uniform(1, 4), 1), "mu": round(draw.uniform(0.1, 0.9), 1)}
            chosen |= ({}, {"sigma": 0.5}, {"sigma": 0.5, "noise": "sign"})[place % 3]
            chosen |= ({}, {"ball": 2}, {"l1": 0.25}, {"box": "[-0.5,1]"}, {})[place % 5]
            chosen |= ({"spread": 2}, {}, {"delta": 0.5, "x0": 0.5}, {"x0": -1})[place % 4]
            shared = ("sigma", "noise", "ball", "l1", "box")
            text = spec(name, {key: value for key, value in chosen.items() if key in kind.options or key in shared})
            with contextlib.suppress(BoundlabError):
                problem_from(text)
                found.append(text)
    return found


FOLDS = (
    "Sum(1/(j + 1)**2, j, 0, K - 1)*R**2", "Sum((1 - mu/L)**j*R**2, j, 1, K)", "R**2*Prod(1 - 1/(j + 2), j, 0, K - 1)",
    "Max(R**2*(1 - mu/L)**j*j, j, 0, K)", "Min(R**2/(j + 1), j, 2, K + 2)",
    "Sum(Sum(R**2/(i + j + 1)**2, i, 0, j), j, 0, K)", "R**2*Sum((1 - mu/L)**(K - j)/(j + 1), j, 0, K - 1)",
    "Sum(R**2*j, j, 3, K)/(K + 1)**2", "R**2*Prod(1 - mu/L, j, 2, K)", "R**2*Sum(1/(j + 1), j, K, 2*K)",
    "Sum(R**2*Sum(1/(i + 1), i, j, K), j, 0, K)",
)  # fmt: skip


FOLD = """id = "fold-{place}"
algorithm = "gd"
metric = "squared-distance"
assumptions = ["strongly-convex", "smooth", "minimiser", "deterministic"]
[step]
alpha = "1/L"
[terms]
bound = "{bound}"
"""


def _folds(found: Made) -> None:
    """Add bounds that put terms together, at one horizon and at many."""
    for place, bound in enumerate(FOLDS):
        text = FOLD.format(place=place, bound=bound)
        file = found.file(f"fold-{place}.toml", text)
        for horizon in ("1", "7", "1,2,3,5,9", "1:1000:log"):
            for mu in ("0.25", "0.1,0.5,1"):
                read = ["--set=L=1", *([f"--set=mu={mu}"] if "mu" in bound else [])]
                words = ["eval", file, f"--set=K={horizon}", *read, "--set=R=2", "--json"]
                found.add("eval", words, ["algorithm:gd"], [file])


def _at_edges(found: Made) -> None:
    """Add runs that stay where a problem is a quadratic but for one side of one coordinate, and runs that just stay."""
    for place, (sigma, delta) in enumerate(((0.25, 1.5), (0.25, 1.0), (0.5, 1.75), (0.5, 1.25), (0.25, 0.8))):
        for sign in ("", "-"):
            for centres in ("[0.25,0.5]", "[0.5]", "[[0.5,0],[0.25,0]]"):
                many = f"[{sign}1,{sign}0.25]" if "]," in centres else f"{sign}1"
                problem = f"huber:c={centres},delta={delta},x0={many},sigma={sigma},noise=sign"
                for theorem, step in (("fedbuff.rf2", "eta_l=0.5"), ("area.theorem8.repaired", "M=2")):
                    words = shlex.split(
                        f"compare {theorem} -p {problem} -d iid:p_s=0.3 -k {4 + place % 2} -r 4 --exact"
                    )
                    found.add("compare", [*words, f"--set={step}", "--json"], ["family:huber", "engine:exact"])


def _virtual_logs(found: Made) -> None:
    """Add logs of virtual time that begin in the middle, skip versions, or have late clients."""
    draw = random.Random(13)  # noqa: S311
    head = (ROOT / "tests/traces/vsim.log").read_text("utf-8").splitlines()[:2]
    for number in range(16):
        clock, epoch, lines = 0.0, 0 if number % 2 else 3, list(head)
        for _ in range(12 + number):
            clock += draw.choice((0.25, 0.5, 1.0))
            client, spent = draw.randrange(1, 4), draw.choice((0.25, 0.5))
            begin, end = (f"[10:15:00 vsim] INFO {at:13.4f}" for at in (clock, clock + spent))
            lines.append(f"{begin}      START    Client{client} {spent:10.4f} {spent / 2:10.4f} {spent / 2:10.4f}")
            epoch += draw.choice((1, 1, 1, 2)) if number % 3 else 1
            late = draw.randrange(0, min(epoch, 3) + 1)
            lines.append(f"{end}       DONE    Client{client} {'':32} {epoch:10d} {late:10d}          -")
        file = found.file(f"virtual-{number:02}.log", "\n".join(lines) + "\n")
        found.add("trace", ["trace", f"{HERE}/{file}", "--as", "appfl", "--json"], [], [file])


def _sharp(found: Made) -> None:
    """Add questions whose answers are many digits: functions at points, both sides exactly, bounds at zeros."""
    _nonsense(found)
    found.add("symbols", ["symbols", "all"])
    found.add("semidefinite", ["semidefinite", "60"])
    found.add("surds", ["surds", "40"])
    _virtual_logs(found)
    _folds(found)
    _at_edges(found)
    for one in [one for one in found.lines if one.kind == "worst-case" and "2" in one.words]:
        if one.answer is None or one.answer["exit"] in (0, 1, 3):
            found.add("certificate", ["certificate", *one.words[:-1]], one.tags, one.files)
    specs = [one.words[1] for one in found.lines if one.kind == "constants"] + _weighed() + _varied()
    for text in (*WEIGHED, *SMALL, "logistic:data=breast_cancer,clients=2,nu=0.5,batch=full", *specs):
        for kind in ("constants", "functions"):
            found.add(kind, [kind, text], [f"family:{text.partition(':')[0]}"])
    for text in dict.fromkeys((*WEIGHED, *specs)):
        found.add("tensors", ["tensors", text], [f"family:{text.partition(':')[0]}"])
    for term in ("l1=0.5", "l1=1/3", "ball=2", "ball=0.75", "box=[-1,1]", "box=[-1/3,2]"):
        found.add("simple", ["simple", term])
    for place, text in enumerate(dict.fromkeys((*WEIGHED, *SMALL, *specs))):
        family = [f"family:{text.partition(':')[0]}"]
        found.add("near", ["near", text], family)
        found.add("weighted", ["weighted", text, ("rising", "falling")[place % 2]], family)
    for name, algorithm in registered("algorithms").items():
        for place, chosen in enumerate(options_of(name, algorithm, 3, 16)[-16:]):
            delays = DELAYS[(5 * place + 2) % len(DELAYS)]
            found.add("draws", ["draws", name, json.dumps(chosen), delays, "3"], [f"algorithm:{name}"])
        for place, chosen in enumerate(options_of(name, algorithm, 3, 12)):
            for clients, iterations in ((2, 7), (3, 20)):
                delays = DELAYS[(3 * place + clients) % len(DELAYS)]
                words = ["usage", name, json.dumps(chosen), delays, str(clients), str(iterations)]
                found.add("usage", words, [f"algorithm:{name}"])
            words = [name, json.dumps(chosen), "3" if place % 3 else "2"]
            for kind in ("formal", "choices"):
                found.add(kind, [kind, *words], [f"algorithm:{name}"])
    for name, theorem in registered("theorems").items():
        if theorem.left.in_seconds:
            continue
        try:
            own = fitting(theorem, most=1)
        except BoundlabError:
            own = ()
        settings = dict(own[0].settings) if own else {}
        _exactly_small(found, name, theorem, settings)
        _exactly_with_options(found, name, theorem, settings)
        _several_steps(found, name, theorem, settings)
        if own:
            _at_zero(found, own[0], name)
        sys.stdout.write(f"{len(found.lines)} after {name}\n")
    _elsewhere(found)


def _exactly(found: Made, name: str, theorem: Theorem, case: dict[str, Any], file: str) -> tuple[str, list[str]]:
    """Add both sides of a case, and return its file and what it is about."""
    case.pop("provenance", None)
    found.file(file, json.dumps(case))
    tags = [f"algorithm:{theorem.algorithm}", f"family:{case['problem']['type']}"]
    found.add("exact", ["exact", name, f"{HERE}/{file}", "--json"], tags, [file])
    return file, tags


def _set(given: Mapping[str, Any]) -> list[str]:
    return [f"--set={name}={value}" for name, value in given.items()]


def _exactly_small(found: Made, name: str, theorem: Theorem, settings: Mapping[str, Any]) -> None:
    for place, problem in enumerate(SMALL):
        delays = ("exponential", "deterministic:spread=3", "iid:p_s=0.3")[(place + len(name)) % 3]
        for given in ((settings, delays), ({}, delays), (settings, "exponential"), ({}, "exponential")):
            try:
                made = bl.compare(name, problem=problem, settings=given[0], delays=given[1], iterations=3, trials=2)
            except BoundlabError:
                continue
            _exactly(found, name, theorem, made.case, f"small-{name}-{place}.json")
            break


def _exactly_with_options(found: Made, name: str, theorem: Theorem, settings: Mapping[str, Any]) -> None:
    """Add cases with several local steps, and with the words of options that the theorem leaves open."""
    algorithm, many = registered("algorithms")[theorem.algorithm], 0
    rates = set(theorem.step) | set(algorithm.step_size_symbols)
    for place, chosen in enumerate(options_of(theorem.algorithm, algorithm, 2, 6)[1:]):
        given = {**settings, **{option: value for option, value in chosen.items() if option not in rates}}
        problem, delays = SMALL[(3, 0, 5, 4, 6)[place % 5]], ("exponential", "iid:p_s=0.3")[place % 2]
        try:
            made = bl.compare(name, problem=problem, settings=given, delays=delays, iterations=4, trials=2)
        except BoundlabError:
            continue
        _, tags = _exactly(found, name, theorem, made.case, f"option-{name}-{place}.json")
        way = [["--exact"], ["--sampled"], []][place % 3]
        words = shlex.split(f"compare {name} -p {problem} -d {delays} -k 4 -r 4")
        found.add("compare", [*words, *way, *_set(given), "--json"], tags)
        many += 1
        if many == 4:
            return


def _several_steps(found: Made, name: str, theorem: Theorem, settings: Mapping[str, Any]) -> None:
    """Add averages over all events, of passes with several local steps and noise on matrices that do not commute."""
    steps = next((one for one in ("M", "Q") if one in registered("algorithms")[theorem.algorithm].parameters), None)
    if steps is None:
        return
    for place, noise in enumerate(("sigma=0.3", "sigma=0.25,noise=sign")):
        problem = f"quadratic:A=[[[2,1],[1,3]],[[1,0],[0,2]]],b=[[0,1],[1,-1]],x0=[2,1],{noise}"
        for delays in ("iid:p_s=0.3", "exponential"):
            given = {**settings, steps: str(3 - place)}
            try:
                bl.compare(name, problem=problem, settings=given, delays=delays, iterations=6, exact=True)
            except BoundlabError:
                continue
            words = shlex.split(f"compare {name} -p {problem} -d {delays} -k 6 --exact")
            tags = [f"algorithm:{theorem.algorithm}", "engine:exact"]
            found.add("compare", [*words, *_set(given), "--json"], tags)
            break


def _at_zero(found: Made, asked: CompareOptions, typed: str) -> None:
    """Add the bound where one number is 0: a value, or a refusal of what has none."""
    try:
        plan = asked.plan(trials=2)
    except BoundlabError:
        return
    values = {name: one for name, one in plan.values.items() if name in asked.theorem.inputs() or name == "p"}
    for zero in sorted(name for name, one in values.items() if getattr(one, "ndim", 0) == 0 and name != "n")[:4]:
        given = {**values, zero: 0}
        words = [f"--set={name}={_typed(one)}" for name, one in given.items() if name != "n" or "p" not in given]
        found.add("eval", ["eval", typed, *words, "--json"], [f"algorithm:{asked.theorem.algorithm}"])


def _elsewhere(found: Made) -> None:
    """Add each bound at values that no instance gives: real ones moved by some factor, whole ones by some steps."""
    for line in [one for one in found.lines if one.kind == "eval" and not any("log" in word for word in one.words)]:
        draw = random.Random(line.id)  # noqa: S311
        for _ in range(2):
            words = []
            for word in line.words:
                name, _, value = word.removeprefix("--set=").partition("=")
                known = SYMBOLS.get(name)
                if word.startswith("--set=") and known is not None and "," not in value and name not in ("p", "p_s"):
                    whole, size = known.domain.integer, float(value)
                    moved = int(size) + draw.randrange(1, 4) if whole else float(f"{size * draw.uniform(0.5, 1.6):.6g}")
                    word = f"--set={name}={moved}"
                words.append(word)
            found.add("elsewhere", words, set(line.tags) - {"eval"}, line.files)


def _rates(found: Made) -> None:
    draw = random.Random(5)  # noqa: S311
    for place in range(60):
        rates = ",".join(f"{10 ** draw.uniform(-2, 2):.3g}" for _ in range(1 + place % 7))
        per_time = ["--objective", "per-time", "--server-cost", f"{draw.uniform(0, 1):.2g}"]
        found.add("optimal-rate", ["optimal-rate", "--rates", rates, *(per_time if place % 2 else []), "--json"])


def _logs(found: Made) -> None:
    draw = random.Random(7)  # noqa: S311
    texts = {"vsim.log": (ROOT / "tests/traces/vsim.log").read_text("utf-8")}
    for number in range(50):
        clock, rows = 0.0, ["time,client"]
        for _ in range(20 + number):
            clock += draw.expovariate(1.0) if number % 2 else 0.5
            rows.append(f"{clock:.4f},{draw.randrange(2 + number % 4)}")
        texts[f"log-{number:02}.csv"] = "\n".join(rows) + "\n"
    for name, text in texts.items():
        file, form = found.file(name, text), ["--as", "appfl"] if name.endswith(".log") else []
        found.add("trace", ["trace", f"{HERE}/{file}", *form, "--json"], [], [file])
        found.add("fit", ["fit", f"{HERE}/{file}", *form, "--json"], [], [file])
        if not form:
            words = ["run", "fedbuff", "-p", "huber:clients=5,dimension=1,x0=2", "-d", f"trace:file={HERE}/{file}"]
            found.add("followed", [*words, "-k", "8", "-r", "2", "--set=eta_l=0.05", "--set=M=1", "--json"], [], [file])


USERS = Path(__file__).parent / "users"


def _users(found: Made) -> None:
    """Add what people asked: the commands of ``users/lines.txt`` about the files beside it."""
    names = sorted(path.name for path in USERS.iterdir() if path.name != "lines.txt")
    for name in names:
        found.file(name, (USERS / name).read_bytes())
    for text in (USERS / "lines.txt").read_text("utf-8").splitlines():
        if text and not text.startswith("#"):
            found.add("user", shlex.split(text), [], [name for name in names if name in text])


def _nonsense(found: Made) -> None:
    """Add the lines of bad input that the tests of the command line know, with the files that they name."""
    sys.path.insert(0, str(ROOT / "tests"))
    sys.path.insert(0, str(ROOT / "tests" / "cli"))
    import test_bad_input as known

    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        made = known.bad_files(place)
        there = {name: f"{HERE}/bad/{path.name}" for name, path in made.items()}
        for line, *_ in known.LINES:
            files = []
            for path in [path for name, path in made.items() if f"{{{name}}}" in line]:
                inside = sorted(path.iterdir()) if path.is_dir() else [path]
                files += [found.file(f"bad/{one.relative_to(place)}", one.read_bytes()) for one in inside]
            found.add("bad", shlex.split(line.format(**known.SHORT, **there)), [], files)


def _fuzzed(found: Made) -> None:
    from command_fuzz import Fuzz

    with tempfile.TemporaryDirectory() as place:
        fuzz, wanted = Fuzz(random.Random(77), Path(place)), 0  # noqa: S311
        while wanted < 300:
            before = set(Path(place).iterdir())
            words = fuzz.line()
            if words[0] in ("demo", "doctor", "audit", "sweep", "falsify", "results") or any(
                "\0" in one or "\udcff" in one for one in words
            ):
                continue
            files = []
            for path in sorted(set(Path(place).iterdir()) - before):
                inside = sorted(path.iterdir()) if path.is_dir() else [path]
                files += [found.file(f"fuzz/{one.relative_to(place)}", one.read_bytes()) for one in inside]
                if not inside:
                    files.append(found.file(f"fuzz/{path.name}/", b""))
            found.add("fuzz", [word.replace(place, f"{HERE}/fuzz") for word in words], [f"command:{words[0]}"], files)
            wanted += 1


def _notebooks(found: Made) -> None:
    for path in sorted((ROOT / "notebooks").glob("*.py")):
        found.add("notebook", ["notebook", path.stem])
