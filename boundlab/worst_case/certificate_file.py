"""Certificates as files that the checker reads (:mod:`boundlab.recheck`): every number in them is a fraction."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from boundlab.arithmetic.rational import Root, fraction
from boundlab.recheck import SCHEMA, gradient_bound, interpolation, text_of
from boundlab.worst_case.classes import FunctionClass
from boundlab.worst_case.model import ProgramModel
from boundlab.worst_case.program import Row
from boundlab.worst_case.verify import Matrix, slack_matrix

Json = dict[str, Any]


def upper(
    model: ProgramModel, kind: FunctionClass, multipliers: Sequence[Fraction], value: Fraction, about: Json
) -> Json:
    """Return the certificate of an upper value.

    Parameters
    ----------
    multipliers
        One a row of the program, which :func:`boundlab.worst_case.verify.upper_value` has accepted.
    about
        Of what question it is, and what the objective is, for people.
    """
    program = model.program
    labels = _labels(model, kind)
    rows = [
        {**_row(one, labels, model), "multiplier": text_of(weight)}
        for weight, one in zip(multipliers, program.rows, strict=True)
        if weight
    ]
    remainder = _squares(slack_matrix(program, multipliers))
    return {**head(model, kind, "upper", about), "value": text_of(value), "rows": rows, "remainder": remainder}


def lower(
    model: ProgramModel, kind: FunctionClass, gram: Matrix, values: Sequence[Fraction], value: Fraction, about: Json
) -> Json:
    """Return the certificate of a lower value: a point (G, F) of the program, which the first checker has accepted."""
    return {
        **head(model, kind, "lower", about),
        "value": text_of(value),
        "rows": given(model, kind),
        "gram": _squares(gram),
        "point": [text_of(one) for one in values],
    }


def given(model: ProgramModel, kind: FunctionClass) -> list[Json]:
    """Return the rows of the program that are no inequalities of the class."""
    labels = _labels(model, kind)
    return [one for one in (_row(row, labels, model) for row in model.program.rows) if one["kind"] == "given"]


def head(model: ProgramModel, kind: FunctionClass, side: str, about: Json) -> Json:
    """Return all of a certificate that its program says: whatever proves its value."""
    least, inverse, square = _class(kind)
    functions = [
        {
            "mu": text_of(least),
            "1/L": text_of(inverse),
            "gradient_square": None if square is None else text_of(square),
            "samples": [{"x": _vector(one.x), "g": _vector(one.g), "f": _vector(one.f.values)} for one in samples],
        }
        for samples in model.samples
    ]
    return {
        "schema": SCHEMA,
        "kind": side,
        **about,
        "class": kind.words,
        "basis": _names(model),
        "values": [f"F_{place}" for place in range(model.program.values)],
        "functions": functions,
        "objective": _form(model.program.objective),
    }


def _class(kind: FunctionClass) -> tuple[Fraction, Fraction, Fraction | None]:
    """Return the least curvature, 1/L, and the bound on squared gradients."""
    steepest: Any = kind.constants.get("M")
    square = None
    if steepest is not None:
        square = steepest.square if isinstance(steepest, Root) else fraction(steepest) ** 2
    if kind.gradient_square is not None:
        square = fraction(kind.gradient_square)
    return *kind.curvatures, square


def _names(model: ProgramModel) -> list[str]:
    """Return what each basis vector is."""
    names = {place: f"u_{place}" for place in range(model.program.points)}
    names |= dict.fromkeys(model.start, "x_0 − x*")
    names |= {place: f"e_{number}" for number, place in enumerate(model.errors)}
    for client, samples in enumerate(model.samples):
        for number, one in enumerate(samples):
            if len(one.g) == 1 and names[place := next(iter(one.g))].startswith("u_"):
                names[place] = f"gradient of f_{client} at its sample {number}"
    return list(names.values())


def _labels(model: ProgramModel, kind: FunctionClass) -> dict[tuple[Any, ...], Json]:
    """Return which row is which inequality of the class."""
    least, inverse, square = _class(kind)
    found: dict[tuple[Any, ...], Json] = {}
    for client, samples in enumerate(model.samples):
        for i, one in enumerate(samples):
            if square is not None:
                found.setdefault(_key(gradient_bound(one, square)), {"kind": "gradient", "client": client, "i": i})
            for j, other in enumerate(samples):
                if i != j:
                    form = interpolation(one, other, least, inverse)
                    found.setdefault(_key(form), {"kind": "interpolation", "client": client, "i": i, "j": j})
    return found


def distances(model: ProgramModel, kind: FunctionClass) -> list[int]:
    """Return how far apart the samples of each row's inequality are: from x*, or on to the next one, is nearest."""
    labels = _labels(model, kind)
    found = []
    for one in model.program.rows:
        known = labels.get(_key(one), {})
        i, j = known.get("i", 0), known.get("j", 0)
        if known.get("kind") == "gradient":
            found.append(4 if i == len(model.samples[known["client"]]) - 1 else 0)
        else:
            found.append(0 if i == 0 or j == i + 1 else 1 if j == 0 else abs(j - i) + (j < i))
    return found


def _row(one: Row, labels: Mapping[tuple[Any, ...], Json], model: ProgramModel) -> Json:
    known = labels.get(_key(one))
    return known or {"kind": "given", "words": _words(one, _names(model)), "form": _form(one)}


def _key(form: Row) -> tuple[Any, ...]:
    return tuple(sorted(form.values.items())), tuple(sorted(form.gram.items())), form.constant


def _words(one: Row, names: Sequence[str]) -> str:
    parts = [f"{'' if weight == 1 else f'{weight}·'}F_{place}" for place, weight in one.values.items()]
    for (i, j), weight in one.gram.items():
        square = f"‖{names[i]}‖²" if i == j else f"⟨{names[i]}, {names[j]}⟩"
        parts.append(square if weight == 1 else f"{weight}·{square}")
    return f"{' + '.join(parts)} ≤ {-one.constant}"


def _form(one: Row) -> Json:
    return {
        "values": _vector(one.values),
        "gram": [[i, j, text_of(weight)] for (i, j), weight in one.gram.items()],
        "constant": text_of(one.constant),
    }


def _vector(entries: Mapping[int, Fraction]) -> dict[str, str]:
    return {str(place): text_of(entry) for place, entry in entries.items()}


def _squares(matrix: Matrix) -> list[Json]:
    """Return positive weights d_j and vectors ℓ_j with Σ d_j·ℓ_j·ℓ_jᵀ the matrix, which is positive semidefinite."""
    left = [list(line) for line in matrix]
    out = []
    for _ in left:
        place = max(range(len(left)), key=lambda i: left[i][i])
        pivot = left[place][place]
        if not pivot:
            break
        vector = [entry / pivot for entry in left[place]]
        out.append({"weight": text_of(pivot), "vector": _vector({i: one for i, one in enumerate(vector) if one})})
        for i, first in enumerate(vector):
            if first:
                for j, second in enumerate(vector):
                    left[i][j] -= pivot * first * second
    return out
