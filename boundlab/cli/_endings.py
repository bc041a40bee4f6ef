"""The one table of exit codes: what each means for each command. docs/exit-codes.md shows it."""

from collections.abc import Mapping
from types import MappingProxyType

from boundlab.verdict import ExitCode

_BESIDE = "an assumption of the theorem is not met, or it has no constants to compare with"
_RUNS = "the algorithm cannot run on the problem"

# The codes of a command that have a meaning of its own; 2, 70 and 130 mean the same for every command.
ENDINGS: Mapping[str, Mapping[ExitCode, str]] = MappingProxyType(
    {
        "list": {ExitCode.STANDS: "listed, what cannot be loaded included"},
        "show": {ExitCode.STANDS: "shown"},
        "eval": {
            ExitCode.STANDS: "evaluated",
            ExitCode.NOT_APPLICABLE: "a condition of the theorem is not met by the numbers",
        },
        "optimal-rate": {ExitCode.STANDS: "found"},
        "run": {ExitCode.STANDS: "simulated", ExitCode.NOT_APPLICABLE: _RUNS},
        "replay": {ExitCode.STANDS: "replayed", ExitCode.NOT_APPLICABLE: _RUNS},
        "check": {
            ExitCode.STANDS: "no check failed",
            ExitCode.REFUTED: "a check failed; its consequence says whether that refutes the claim",
            ExitCode.UNDECIDED: "nothing could be decided, or nothing was asked",
        },
        "compare": {
            ExitCode.STANDS: "holds, or consistent: no violation seen",
            ExitCode.REFUTED: "violated",
            ExitCode.UNDECIDED: "inconclusive; with --require holds also consistent",
            ExitCode.NOT_APPLICABLE: _BESIDE,
        },
        "exact": {
            ExitCode.STANDS: "holds on this case",
            ExitCode.REFUTED: "violated on this case",
            ExitCode.UNDECIDED: "inconclusive: the left side is larger, but that refutes nothing",
            ExitCode.NOT_APPLICABLE: _BESIDE,
        },
        "worst-case": {
            ExitCode.STANDS: "the certified worst case is at most the bound; --fit: every multiplier has a closed form",
            ExitCode.REFUTED: "a function of the class exceeds the bound, certified",
            ExitCode.UNDECIDED: "not decided: no certified value is on either side, however near (tight to …); or the "
            "theorem is about noise, and the bound holds without it",
            ExitCode.NOT_APPLICABLE: "the bound and the program are not about the same runs",
        },
        "prove": {
            ExitCode.STANDS: "every step is proved, and the theorem where there is one",
            ExitCode.REFUTED: "a step is refuted by an instance of the theorem's setting",
            ExitCode.UNDECIDED: "a step is not proved, or the theorem is not",
        },
        "recheck": {
            ExitCode.STANDS: "every line of the certificate, or of the proof, is right, and nothing is on trust",
            ExitCode.REFUTED: "a line is wrong: the file proves nothing",
            ExitCode.UNDECIDED: "no line of the proof is wrong, but something is on trust: it is named",
        },
        "falsify": {
            ExitCode.REFUTED: "a counterexample was found",
            ExitCode.UNDECIDED: "none was found, which proves nothing",
            ExitCode.NOT_APPLICABLE: "there is nothing to refute",
        },
        "audit": {
            ExitCode.STANDS: "proved, or not refuted by anything that was tried",
            ExitCode.REFUTED: "false; of a printed O(·), false with universal constants",
            ExitCode.UNDECIDED: "nothing could be decided, or two answers contradict each other",
            ExitCode.NOT_APPLICABLE: "a printed O(·): it says nothing that a number could refute",
        },
        "demo": {ExitCode.STANDS: "all parts ran, whatever their verdicts"},
        "new": {ExitCode.STANDS: "written"},
        "schema": {ExitCode.STANDS: "shown"},
        "doctor": {
            ExitCode.STANDS: "what is installed works, and so does the plug-in",
            ExitCode.REFUTED: "an object of the plug-in does not keep what its interface promises",
            ExitCode.UNDECIDED: "something that is installed cannot be loaded",
        },
    }
)
_SHARED = (ExitCode.USAGE, ExitCode.UNFORESEEN, ExitCode.INTERRUPTED)


def summary() -> str:
    """Return all codes in one line, for the help of the whole command line."""
    return "Exit codes: " + "; ".join(f"{code:d} {code.meaning}" for code in ExitCode) + "."


def epilog(command: str, example: str) -> str:
    """Return what stands below the help of a command: its exit codes and an example."""
    own = "; ".join(f"{code:d} {words}" for code, words in ENDINGS[command].items())
    shared = ", ".join(f"{code:d}" for code in _SHARED)
    return f"Exit codes: {own}; {shared} as for every command (boundlab --help). Example: boundlab {example}"


def table() -> str:
    """Return the tables of docs/exit-codes.md: what the codes mean, and what they mean for each command."""
    meanings = ["| code | name | meaning |", "|---|---|---|"]
    meanings += [f"| {code:d} | `{code.name}` | {code.meaning} |" for code in ExitCode]
    own = [code for code in ExitCode if code not in _SHARED]
    commands = [f"| command | {' | '.join(f'{code:d}' for code in own)} |", "|---" * (len(own) + 1) + "|"]
    commands += [
        f"| `{name}` | {' | '.join(words.get(code, '–') for code in own)} |" for name, words in ENDINGS.items()
    ]
    return "\n".join([*meanings, "", *commands])
