"""How a theorem is shown."""

from typing import TYPE_CHECKING, Any

from rich.text import Text

from boundlab.assumptions import assumption

if TYPE_CHECKING:
    from boundlab.theorems import Theorem

_STEP = (-1, 2)
_RATES = ("alpha", "c", "d")  # how a step size may be given


def theorem_page(theorem: "Theorem") -> list[Any]:
    """Return the page of ``boundlab show``."""
    fields = theorem.as_dict()
    lines: list[Any] = [
        Text(f"{theorem.id}: {theorem.title}", style="bold"),
        Text(f"{theorem.paper}, {theorem.place} ({theorem.status})"),
        "",
        Text(f"left side    {fields['left_side']}"),
        Text(
            "holds for    "
            + (
                f"every {theorem.counter} ≥ {theorem.start} of one run"
                if theorem.horizon == "every"
                else f"the {theorem.counter} its step is chosen for"
            )
        ),
        Text(f"algorithm    {theorem.algorithm}{_options(theorem)}"),
    ]
    for key, rule in fields["step"].items():
        shown = "given" if rule == key else rule + (" (or given)" if key in theorem.settable else "")
        noun = "step size    " if key == "d" or theorem.symbols[key].units == _STEP else "sets         "
        lines.append(Text(f"{noun}{key} = {shown}" + (", alpha_k = c/(k+d)" if key == "d" else "")))
    lines.append("")
    lines.append(Text("assumptions", style="bold"))
    lines += [Text(f"  {name}: {assumption(name).words}") for name in theorem.assumptions]
    lines += [Text(f"  {statement}") for statement in fields["conditions"]]
    lines.append("")
    title = "shape of the printed O(·), constants unknown" if theorem.shape else "bound, the sum of"
    lines.append(Text(title, style="bold"))
    lines += [Text(f"  {name}: {term}") for name, term in fields["terms"].items()]
    if fields["recursion"]:
        lines.append(Text(f"  {fields['recursion']}"))
    if fields["definitions"]:
        lines += ["", Text("where", style="bold")]
        lines += [Text(f"  {name} = {rule}") for name, rule in fields["definitions"].items()]
    lines += ["", Text("symbols to set", style="bold")]
    options = {name: key for key, name in theorem.parameters.items() if name != key}
    for name, meaning in fields["inputs"].items():
        parameter = f" (the parameter {options[name]} of {theorem.algorithm})" if name in options else ""
        lines.append(Text(f"  {name}: {meaning}{parameter}"))
    if theorem.settable:
        lines.append(Text(f"  may be set: {', '.join(theorem.settable)}"))
    if theorem.note:
        lines += ["", Text(theorem.note, style="italic")]
    return lines


def _options(theorem: "Theorem") -> str:
    """Return which options the run has: those of the proof, those left open, and what becomes of the others."""
    from boundlab.registry import lookup

    rest = [name for name in lookup("algorithms", theorem.algorithm).parameters if name not in theorem.step]
    rest = [name for name in rest if name not in theorem.fixed_options and name not in _RATES]
    free = [name for name in rest if theorem.leaves_open(name)]
    said = "".join(f", {key} = {value}" for key, value in theorem.fixed_options.items())
    said += f", any {', '.join(free)}" if free else ""
    kept = [name for name in rest if name not in free]
    return said + (f"; {', '.join(kept)} at the default" + "s" * (len(kept) > 1) if kept else "")
