"""The TOML file of a theorem, as a record: which keys it may have, of which types, and what each is."""

from typing import Annotated, Any, Final, Literal

import msgspec

from boundlab.formulas.symbols import DOMAINS, Role, Side
from boundlab.metrics import INDICES, MODEL, QUANTITIES, Kind, Quantity
from boundlab.records import among, needed, what
from boundlab.theorems._statement import Origin, Status

SECONDS_INDEX: Final = "seconds"
SUMMED: Final = {one.name.lower(): one for one in Quantity}
_FORMULA: Final = 'a formula, text such as "L*R**2/(2*K)", or a number'
Formula = Annotated[str | int | float, what("A formula.", _FORMULA)]
Formulas = dict[str, Formula]
Texts = list[str]
Inequality = Annotated[str, what("left >= right", "text, 'left >= right'")]
Letter = Annotated[str, what("A letter in LaTeX.", "text, a letter in LaTeX")]


class OneLeft(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, rename={"begin": "from", "end": "to"}):
    """A left side: one quantity, how the iterates enter, and which models."""

    quantity: Annotated[str, among(QUANTITIES, "What is measured.")]
    over: Annotated[Kind, what("How the iterates enter.")] = "last"
    index: Annotated[str, among((*INDICES.values(), SECONDS_INDEX), "What the index counts.")] = "iteration"
    reach: str | None = None
    weights: Formula | None = None
    begin: Formula | None = None
    end: Formula | None = None


class LeftTerm(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """One term of a left side that is a sum: a quantity, at which point, times what."""

    quantity: Annotated[str, among(SUMMED, "What is measured.")]
    point: Annotated[str, what("A point of the algorithm.", f"text, such as {MODEL!r}")] = MODEL
    times: Formula = 1


class Says(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A condition, and how people read it."""

    holds: str
    says: str = ""


class Along(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, rename={"along": "in"}):
    """Symbols along which unknown constants stay the same."""

    along: Annotated[Texts, what("Symbols.", 'a list of symbols, such as ["T"]', min_length=1)]


class OwnSymbol(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A symbol that boundlab does not know."""

    meaning: Annotated[str, what("What it is, in words.", "text", min_length=1)]
    units: Annotated[
        list[int],
        what(
            "Degrees under f → c·f, x → s·x, and of seconds.",
            "two integers [a, b] (f → c·f, x → s·x), or [a, b, c] with seconds to the power c",
            min_length=2,
            max_length=3,
        ),
    ]
    domain: Annotated[str, among(DOMAINS, "Its numbers.")] = "real"
    latex: str = ""
    unicode: str = ""
    side: Annotated[Side, what("Which side of the constant its value is.")] = "exact"
    role: Role = "user"


class TheoremFile(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, rename={"origin": "source"}):
    """The TOML file of a theorem, read as data."""

    id: Annotated[str, what("Its name.", min_length=1)]
    title: str = ""
    paper: str = ""
    place: str = ""
    status: Status = "user"
    origin: Annotated[Origin, what("What the file was written from.")] = ""
    algorithm: Annotated[str, what("boundlab list algorithms")] = ""
    metric: Annotated[str, what("boundlab list metrics")] = ""
    left: Annotated[
        OneLeft | list[LeftTerm] | None,
        what(
            "A left side that no metric is: one quantity, or the terms of a sum.", "a table [left], or several [[left]]"
        ),
    ] = None
    about: Literal["each schedule", "the mean"] | None = None
    horizon: Literal["every", "fixed"] | None = None
    first: Annotated[Literal[0, 1], what("From which K on the theorem says something.")] = 1
    note: str = ""
    refuted_by: str = ""
    repaired_by: Texts = []
    page: str = ""
    proof: str = ""
    proofs: Texts = []
    assumptions: Annotated[Texts, what("boundlab list assumptions")] = []
    assume: Annotated[
        dict[str, Inequality], what("Inequalities between quantities of a point that hold at every x.")
    ] = {}
    options: Annotated[dict[str, Any], what('Options of the algorithm; "any" leaves one open.')] = {}
    step: Annotated[Formulas, what("Symbol = formula: how the step is chosen.", "a table with a rate", min_length=1)]
    definitions: Annotated[Formulas, what("Symbol = formula.")] = {}
    settable: Texts = []
    conditions: Annotated[
        list[str | Says],
        what(
            "Each left <= right or left < right, or a table with that under holds and words under says.",
            "a list of texts",
        ),
    ] = []
    parameters: Annotated[dict[str, str] | None, what("Parameter of the algorithm = symbol.")] = None
    terms: Annotated[
        Formulas, what("Name = formula; the bound is their sum.", extra_json_schema={"minProperties": 1})
    ] = {}
    recursion: Annotated[
        Literal["area", "ogm"] | None, what("What boundlab iterates numerically in place of terms.")
    ] = None
    letters: Annotated[dict[str, Letter], what("Symbol = the paper's letter in LaTeX.")] = {}
    generous: Annotated[
        dict[str, Annotated[int, what("At least 1.", "a whole number of at least 1", ge=1)]],
        what("Symbol = by how much the paper may count it larger."),
    ] = {}
    growth: Annotated[Along | None, what("Symbols along which the unknown constants of an O(.) stay the same.")] = None
    points: Annotated[
        dict[str, Annotated[Texts, what("Ids.", 'a list of sets of points, such as ["server"]', min_length=1)]],
        what("Constant = sets of points at which alone it bounds gradients."),
    ] = {}
    shape: Annotated[bool, what("Whether the bound is an O(.) whose constants are unknown.")] = False
    symbols: Annotated[dict[str, OwnSymbol], what("Symbols that boundlab does not know.")] = {}


_NEEDED: Final = {"allOf": [needed("metric", "left"), needed("terms", "recursion")]}
SCHEMA_OF: Final = Annotated[TheoremFile, msgspec.Meta(title="A theorem", extra_json_schema=_NEEDED)]
"""The types that the published schemas are of."""
