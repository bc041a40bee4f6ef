"""The numbers of a problem at their word, where its options give them."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

from boundlab.arithmetic import numbers
from boundlab.arithmetic.problem import Array, Rows
from boundlab.errors import SpecError


@final
@dataclass(frozen=True, slots=True)
class Reader:
    """Takes numbers at their word from the options where they are given, else from a problem's arrays.

    Parameters
    ----------
    raw
        The options as they were given: 0.1 is 1/10, "1/3" is 1/3.

    Raises
    ------
    SpecError
        If an option cannot be read exactly.
    """

    raw: Mapping[str, Any]

    def one(self, key: str, value: float) -> Fraction:
        """Return a number."""
        return numbers.read_number(self.raw[key], key) if key in self.raw else Fraction(value)

    def vector(self, key: str, values: Array) -> list[Fraction]:
        """Return the entries of an array of shape (d,); one number stands for all of them."""
        listed = [Fraction(value) for value in values.tolist()]
        if key not in self.raw:
            return listed
        entries = exact_numbers(self.raw[key], key)
        flat = entries if isinstance(entries, list) else [entries]
        return self._checked(flat * (len(listed) if len(flat) == 1 else 1), listed, key)

    def direction(self, values: Array | None) -> list[Fraction] | None:
        """Return the direction of noise of either sign, or None: the noise is of another kind."""
        return None if values is None else self.vector("direction", values)

    def rows(self, key: str, values: Array) -> Rows:
        """Return the rows of an array of shape (n, d); a list of numbers is a column."""
        listed = [[Fraction(entry) for entry in row] for row in values.tolist()]
        if key not in self.raw:
            return listed
        entries = exact_numbers(self.raw[key], key)
        if not isinstance(entries, list):
            entries = [entries]
        rows = [row if isinstance(row, list) else [row] for row in entries]
        return [self._checked(row, value, key) for row, value in zip(rows, listed, strict=True)]

    def weights(self, key: str, values: Array) -> Rows:
        """Return the rows of an array of shape (n, d); one number stands for its row, or for all rows."""
        listed = [[Fraction(entry) for entry in row] for row in values.tolist()]
        if key not in self.raw:
            return listed
        entries = exact_numbers(self.raw[key], key)
        if not isinstance(entries, list):
            return [[entries] * len(row) for row in listed]
        rows = [row if isinstance(row, list) else [row] for row in entries]
        wide = [row * len(value) if len(row) == 1 else row for row, value in zip(rows, listed, strict=True)]
        return [self._checked(row, value, key) for row, value in zip(wide, listed, strict=True)]

    def cube(self, key: str, values: Array) -> list[Rows]:
        """Return the entries of an array of shape (n, m, d)."""
        listed = values.tolist()
        if key not in self.raw:
            return [[[Fraction(entry) for entry in row] for row in matrix] for matrix in listed]
        found = exact_numbers(self.raw[key], key)
        for matrix, floats in zip(found, listed, strict=True):
            for row, given in zip(matrix, floats, strict=True):
                self._checked(row, [Fraction(entry) for entry in given], key)
        out: list[Rows] = found
        return out

    def _checked(self, found: list[Fraction], floats: list[Fraction], key: str) -> list[Fraction]:
        """Refuse a reading that is not the problem's own up to rounding."""
        if len(found) != len(floats) or any(
            abs(a - b) > Fraction(1, 10**12) * max(abs(b), Fraction(1, 10**12))
            for a, b in zip(found, floats, strict=True)
        ):
            raise SpecError(f'{key} cannot be read exactly; write numbers, or text such as "1/3"')
        return found


def exact_numbers(raw: Any, key: str) -> Any:
    """Read a number at its word, or nested lists of numbers; on the command line ``[1,1/3]``."""
    if isinstance(raw, (list, tuple)):
        return [exact_numbers(entry, key) for entry in raw]
    if isinstance(raw, str) and (raw.strip().startswith("[") or "," in raw):
        body = raw.strip()
        if body.startswith("[["):
            import json

            return exact_numbers(json.loads(body, parse_float=str, parse_int=str), key)
        return [numbers.read_number(word, key) for word in body.strip("[]").replace(",", " ").split()]
    return numbers.read_number(raw, key)
