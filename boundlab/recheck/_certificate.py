"""Read a certificate and check every line of it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from boundlab.recheck._forms import (
    Finding,
    Form,
    Sample,
    Vector,
    WrongError,
    as_dict,
    as_list,
    fraction,
    gradient_bound,
    inner,
    interpolation,
    only,
    text_of,
)

SCHEMA = "boundlab worst-case certificate 1"
PROOF = "boundlab proof 2"
_LARGEST = 64 << 20
_MANY = 1 << 20  # entries of a list: more than any program has
_SHORT = 40
_FILE = ("schema", "kind", "claim", "value", "class", "question", "basis", "values", "functions", "objective", "rows")
_SIDES = {"upper": ("remainder",), "lower": ("gram", "point")}
_ROWS = {"interpolation": ("client", "i", "j"), "gradient": ("client", "i"), "given": ("words", "form")}


def recheck(path: Path) -> Finding:
    """Check a certificate file, or a proof file; raises as :func:`load`."""
    return recheck_loaded(load(path))


def load(path: Path) -> dict[str, Any]:
    """Return what stands in a certificate file, or in a proof file.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If it is no certificate at all, saying why.
    """
    if not path.is_file() and path.exists():
        raise ValueError(f"{path} is no regular file")
    if path.stat().st_size > _LARGEST:
        raise ValueError(f"{path} is larger than {_LARGEST >> 20} MiB, which no certificate is")
    try:
        raw = json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=_each_once)
    except WrongError as error:
        raise ValueError(f"{path}: {error}") from None
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"{path} is no JSON file: {error}") from None
    except ValueError:  # Python reads no integer of more than 4300 digits
        raise ValueError(f"{path} holds an integer with too many digits") from None
    if not isinstance(raw, dict) or raw.get("schema") not in (SCHEMA, PROOF):
        raise ValueError(f'{path} is no certificate: it must be an object with "schema": "{SCHEMA}" or "{PROOF}"')
    return raw


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON; a key that stands there twice says two things, of which readers take different ones."""
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise WrongError(f"the key {twice[:40]!r} stands twice in one object")
    return found


def recheck_loaded(raw: dict[str, Any]) -> Finding:
    """Check what stands in such a file."""
    if raw["schema"] == PROOF:
        from boundlab.recheck.kernel import recheck_proof

        return recheck_proof(raw)
    try:
        return _Reader(raw).finding()
    except WrongError as error:
        return Finding(False, str(error))


class _Reader:
    """One certificate: numbers are fractions in text, indices are checked before they are used."""

    def __init__(self, raw: Mapping[str, Any]) -> None:
        self.raw = raw
        kind = str(raw.get("kind"))
        if kind not in _SIDES:
            raise WrongError(f'kind must be "upper" or "lower", got {kind[:40]!r}')
        only(dict(raw), (*_FILE, *_SIDES[kind]), "the file")
        self.basis, self.values = self._list("basis"), self._list("values")
        self.functions = [
            _Function(self, as_dict(one, f"function {place}"), f"function {place}")
            for place, one in enumerate(self._list("functions"))
        ]

    def finding(self) -> Finding:
        """Check what the certificate is for."""
        objective = self.form(as_dict(self.raw.get("objective"), "the file: objective"), "objective")
        value = fraction(self.raw.get("value"), "value")
        rows = list(self._rows())
        given = tuple(words for _, words in rows if words)
        if self.raw["kind"] == "upper":
            checked = self._upper(objective, value, [form for form, _ in rows])
            words = f"at most {_short(value)}"
        else:
            checked = self._lower(objective, value, [form for form, words in rows if words])
            words = f"at least {_short(value)}"
        claim = str(self.raw.get("claim", ""))[:300]
        # Program and samples are those of a run: of that the theorem knows which the file names.
        return Finding(True, f"the objective is {words}", given, checked, claim, setting=("it is bound to no theorem",))

    def _upper(self, objective: Form, value: Fraction, rows: Sequence[Form]) -> int:
        """Check objective + Σ_j d_j·‖ℓ_j‖² = value + Σ_k λ_k·row_k, coefficient by coefficient, with d, λ ≥ 0."""
        total = Form(constant=value)
        for place, (row, one) in enumerate(zip(rows, self._list("rows"), strict=True)):
            weight = fraction(one.get("multiplier"), f"row {place}, multiplier")
            if weight < 0:
                raise WrongError(f"row {place}: the multiplier {_short(weight)} is negative")
            total = total.plus(row, weight)
        squares = self._squares("remainder", len(self.basis))
        left = objective.plus(squares).plus(total, Fraction(-1))
        if left != Form():
            raise WrongError(
                f"objective + squares − multiples of rows is not the value: {self._left_over(left)} is left"
            )
        return len(rows) + len(self.raw["remainder"])

    def _lower(self, objective: Form, value: Fraction, given: Sequence[Form]) -> int:
        """Check that G = Σ_j d_j·ℓ_j·ℓ_jᵀ and F are a point of the program at which the objective is the value.

        Beside the rows that are given, those of the classes are made here, for all pairs of samples.
        """
        gram = self._squares("gram", len(self.basis)).gram
        raw = self._list("point")
        if len(raw) != len(self.values):
            raise WrongError(f"point must have {len(self.values)} values, got {len(raw)}")
        values = [fraction(one, f"point, value {place}") for place, one in enumerate(raw)]
        rows = [*given, *(form for one in self.functions for form in one.rows())]
        for place, row in enumerate(rows):
            at = _at(row, gram, values)
            if at > 0:
                which = f"given row {place}" if place < len(given) else f"row {place - len(given)} of the classes"
                raise WrongError(f"{which} is {_short(at)} > 0 at the point")
        if _at(objective, gram, values) != value:
            raise WrongError(
                f"the objective at the point is {_short(_at(objective, gram, values))}, not {_short(value)}"
            )
        return len(rows) + len(self.raw["gram"])

    def _rows(self) -> Iterator[tuple[Form, str]]:
        """Yield the rows, each ≤ 0, with words for those that are given."""
        for place, raw in enumerate(self._list("rows")):
            where = f"row {place}"
            one = as_dict(raw, where)
            kind = one.get("kind")
            only(one, ("kind", "multiplier", *_ROWS.get(str(kind), ())), where)
            if kind in ("interpolation", "gradient"):
                function = self.functions[self.index(one.get("client"), len(self.functions), f"{where}, client")]
                i = self.index(one.get("i"), len(function.samples), f"{where}, i")
                if kind == "interpolation":
                    j = self.index(one.get("j"), len(function.samples), f"{where}, j")
                    yield interpolation(function.samples[i], function.samples[j], function.mu, function.inverse), ""
                elif function.square is None:
                    raise WrongError(f"{where}: no bound on the gradients of function {one.get('client')} is given")
                else:
                    yield gradient_bound(function.samples[i], function.square), ""
            elif kind == "given":
                yield self.form(as_dict(one.get("form"), f"{where}: form"), where), str(one.get("words", where))[:300]
            else:
                raise WrongError(f'{where}: kind must be "interpolation", "gradient" or "given", got {kind!r}')

    def _squares(self, name: str, size: int) -> Form:
        """Return Σ d_j·‖ℓ_j‖² for positive d_j."""
        total = Form()
        for place, raw in enumerate(self._list(name)):
            where = f"{name} {place}"
            one = only(as_dict(raw, where), ("weight", "vector"), where)
            weight = fraction(one.get("weight"), f"{where}, weight")
            if weight <= 0:
                raise WrongError(f"{where}: the weight {_short(weight)} is not positive")
            vector = self.vector(one.get("vector"), size, where)
            total = total.plus(inner(vector, vector, weight))
        return total

    def _left_over(self, form: Form) -> str:
        for place, entry in form.values.items():
            return f"{_short(entry)}·F_{place}"
        for (i, j), entry in form.gram.items():
            return f"{_short(entry)}·⟨u_{i}, u_{j}⟩"
        return _short(form.constant)

    # ------------------------------------------------------------------------------------------------ reading

    def index(self, raw: Any, size: int, where: str) -> int:
        """Return an index below ``size``."""
        if isinstance(raw, int) and not isinstance(raw, bool) and 0 <= raw < size:
            return raw
        raise WrongError(f"{where} must be a whole number from 0 to {size - 1}, got {str(raw)[:40]!r}")

    def vector(self, raw: Any, size: int, where: str) -> Vector:
        """Return a combination: an object from indices to fractions."""
        out: dict[int, Fraction] = {}
        for key, entry in as_dict(raw, where).items():
            place = self.index(int(key) if key.isdecimal() and len(key) < 6 else key, size, f"{where}, index")
            out[place] = fraction(entry, f"{where}, entry {key}")
        return {place: entry for place, entry in out.items() if entry}

    def form(self, raw: Mapping[str, Any], where: str) -> Form:
        """Return a form."""
        only(dict(raw), ("values", "gram", "constant"), where)
        values = self.vector(raw.get("values", {}), len(self.values), f"{where}, values")
        gram: dict[tuple[int, int], Fraction] = {}
        for entry in as_list(raw.get("gram"), f"{where}: gram", most=_MANY):
            *places, weight = as_list(entry, f"{where}: an entry of gram", 3)
            i, j = (self.index(one, len(self.basis), f"{where}, gram") for one in places)
            pair = (min(i, j), max(i, j))
            gram[pair] = gram.get(pair, Fraction(0)) + fraction(weight, f"{where}, gram")
        constant = fraction(raw.get("constant", 0), f"{where}, constant")
        return Form(values, {pair: entry for pair, entry in gram.items() if entry}, constant)

    def _list(self, key: str) -> list[Any]:
        return as_list(self.raw.get(key), f"the file: {key}", most=_MANY)


class _Function:
    """A client's function: its class, and where it was looked at."""

    def __init__(self, reader: _Reader, raw: dict[str, Any], where: str) -> None:
        only(raw, ("mu", "1/L", "gradient_square", "samples"), where)
        self.mu = fraction(raw.get("mu", 0), f"{where}, mu")
        self.inverse = fraction(raw.get("1/L", 0), f"{where}, 1/L")
        if self.inverse < 0 or self.mu * self.inverse >= 1 or (self.mu < 0 and self.mu * self.inverse != -1):
            raise WrongError(
                f"{where}: no class has curvatures from mu = {_short(self.mu)} with 1/L = {_short(self.inverse)}"
            )
        square = raw.get("gradient_square")
        self.square = None if square is None else fraction(square, f"{where}, gradient_square")
        listed = as_list(raw.get("samples"), f"{where}: samples", most=_MANY)
        self.samples = [
            self._sample(reader, as_dict(one, f"{where}, sample {place}"), f"{where}, sample {place}")
            for place, one in enumerate(listed)
        ]

    def rows(self) -> Iterator[Form]:
        """Yield all that is known of the samples, each ≤ 0."""
        for one in self.samples:
            for other in self.samples:
                if one is not other:
                    yield interpolation(one, other, self.mu, self.inverse)
            if self.square is not None:
                yield gradient_bound(one, self.square)

    @staticmethod
    def _sample(reader: _Reader, raw: dict[str, Any], where: str) -> Sample:
        only(raw, ("x", "g", "f"), where)
        many = {"x": len(reader.basis), "g": len(reader.basis), "f": len(reader.values)}
        x, g, f = (reader.vector(raw.get(name), size, f"{where}, {name}") for name, size in many.items())
        return Sample(x, g, Form(f))


def _at(form: Form, gram: Mapping[tuple[int, int], Fraction], values: Sequence[Fraction]) -> Fraction:
    """Return a form at a point: of the Gram matrix, entries beside the diagonal stand in a square twice."""
    found = form.constant + sum(weight * values[place] for place, weight in form.values.items())
    for (i, j), weight in form.gram.items():
        found += weight * gram.get((i, j), Fraction(0)) / (1 if i == j else 2)
    return found


def _short(number: Fraction) -> str:
    """Return a fraction as it is, or what it is near where it is long."""
    text = text_of(number)
    if len(text) <= _SHORT:
        return text
    whole = round(number * 10**12)
    return f"{'-' * (whole < 0)}{abs(whole) // 10**12}.{abs(whole) % 10**12:012d}… ({len(text)} characters)"
