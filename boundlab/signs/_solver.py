"""z3 behind a pipe: questions with a counted limit, to a process that can be killed."""

import contextlib
import importlib.util
import json
import select
import subprocess
import sys
import weakref
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, final

from boundlab.errors import UndecidedError

# In z3's own steps: of one question, and of all questions to one solver.
LIMIT = 300_000
TOTAL = 3_000_000
# The clock is the last resort only: a question takes a second or two.
SECONDS = 60.0
# Of a coefficient that is asked about: Python writes no number of more than 4,300 digits.
_MOST_BITS = 14_000
_SCRIPT = Path(__file__).with_name("_ask_z3.py")


class NoAnswerError(UndecidedError):
    """z3 was stopped by the clock, or died; its answer is not known, and is not the same on every machine."""


@final
class Solver:
    """z3, started at the first question; where it is not installed nothing is shown.

    Parameters
    ----------
    limit, total
        Most steps of z3 for one question and for all of them together, as z3 counts them.
    seconds
        After how long one question is given up, whatever z3 does.
    """

    def __init__(self, limit: int = LIMIT, total: int = TOTAL, seconds: float = SECONDS) -> None:
        self._limit, self._left, self._seconds = limit, total, seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._trouble = ""
        self._known: dict[Any, bool] = {}

    def nonnegative(self, variables: int, terms: Mapping[tuple[int, ...], tuple[int, int]]) -> bool:
        """Return whether z3 shows that a polynomial is ≥ 0 where all variables are.

        Parameters
        ----------
        terms
            Powers, shape (variables,), → numerator and denominator of the coefficient.

        Raises
        ------
        NoAnswerError
            If z3 dies, or answers within no reasonable time.
        """
        key = tuple(sorted(terms.items()))
        if key not in self._known:
            limit = min(self._limit, self._left)
            self._known[key] = limit > 0 and self._ask(variables, terms, limit)
        return self._known[key]

    def _ask(self, variables: int, terms: Mapping[tuple[int, ...], tuple[int, int]], limit: int) -> bool:
        if self._trouble:
            raise NoAnswerError(self._trouble)
        if importlib.util.find_spec("z3") is None:
            return False
        if any(abs(part).bit_length() > _MOST_BITS for fraction in terms.values() for part in fraction):
            return False
        rows = [[list(powers), *fraction] for powers, fraction in terms.items()]
        question = json.dumps({"variables": variables, "terms": rows, "limit": limit}) + "\n"
        try:
            answer = self._exchange(question.encode())
        except BaseException:
            # An interrupt in the middle of an answer: the next question must not read it as its own.
            self.close()
            raise
        self._left -= answer["count"]
        return bool(answer["answer"] == "unsat")

    def _exchange(self, question: bytes) -> Any:
        if self._process is None:
            self._process = _start()
            weakref.finalize(self, _stop, self._process)
        pipe_in, pipe_out = self._process.stdin, self._process.stdout
        assert pipe_in is not None and pipe_out is not None  # noqa: S101, PT018  as _start opens them
        try:
            pipe_in.write(question)
            pipe_in.flush()
            ready, _, _ = select.select([pipe_out], [], [], self._seconds)
            line = pipe_out.readline() if ready else b""
        except BrokenPipeError:
            ready, line = [pipe_out], b""
        if not line:
            late = f"z3 gave no answer within {self._seconds:g} s, and was stopped"
            self._trouble = "z3 ended without an answer" if ready else late
            raise NoAnswerError(self._trouble)
        return json.loads(line)

    def close(self) -> None:
        """End z3's process, if there is one; a later question starts another."""
        if self._process is not None:
            _stop(self._process)
            self._process = None

    def __enter__(self) -> "Solver":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _start() -> subprocess.Popen[bytes]:
    # A session of its own: an interrupt from the keyboard comes to us, and we end the process.
    return subprocess.Popen(
        [sys.executable, "-P", str(_SCRIPT)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def _stop(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.kill()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()
    process.wait()
