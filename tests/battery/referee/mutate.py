"""Mutants: what is left of a claim after one mechanical slip. Many are still true; witnesses tell which are not."""

import ast
import copy
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from referee.claims import DEFINED_BY, Claim

Data = dict[str, Any]
SCALES = ("1/2", "3/4", "9/10", "99/100")
_SWAPS = (("mu", "L"), ("L", "mu"), ("sigma", "B"), ("R", "zeta"), ("B", "L"), ("F0", "R"), ("n", "1"), ("M", "1"))
_METRICS: Mapping[str, str] = {
    "ergodic-gap": "gap",
    "gap": "ergodic-gap",
    "squared-distance": "gap",
    "gradient-norm-last": "gap",
}


def mutants(claim: Claim) -> Iterator[tuple[str, str, Claim]]:
    """Yield (the kind of slip, what was done, the mutant), each once, in a fixed order; a printed O(·) has none."""
    if claim.data.get("shape"):
        return
    seen = {claim.text()}
    for slip in SLIPS:
        for what, data in slip(claim):
            mutant = Claim({**data, "id": claim.id})
            if mutant.text() not in seen:
                seen.add(mutant.text())
                yield slip.__name__.strip("_").replace("_", " "), what, mutant


def _copy(claim: Claim) -> Data:
    return copy.deepcopy(dict(claim.data))


def _scaled_terms(claim: Claim) -> Iterator[tuple[str, Data]]:
    for name, text in claim.data["terms"].items():
        for scale in SCALES:
            data = _copy(claim)
            data["terms"][name] = f"{scale}*({text})"
            yield f"term {name} times {scale}", data


def _dropped_terms(claim: Claim) -> Iterator[tuple[str, Data]]:
    for name in claim.data["terms"]:
        if len(claim.data["terms"]) > 1:
            data = _copy(claim)
            del data["terms"][name]
            yield f"term {name} dropped", data


def _rewritten(
    claim: Claim, change: Callable[[ast.AST], Iterator[ast.AST]], tables: tuple[str, ...]
) -> Iterator[tuple[str, Data]]:
    """Yield the claim with one node of one formula replaced, for all nodes and replacements."""
    for table in tables:
        for name, text in claim.data.get(table, {}).items():
            tree = ast.parse(str(text), mode="eval")
            for place, node in enumerate(ast.walk(tree)):
                for new in change(node):
                    data = _copy(claim)
                    data[table][name] = ast.unparse(_replace(ast.parse(str(text), mode="eval"), place, new))
                    yield f"{table}.{name} becomes {data[table][name]}", data


def _replace(tree: ast.AST, place: int, new: ast.AST) -> ast.AST:
    """Return the tree with the node that stands at a place of ``ast.walk`` replaced."""
    target = list(ast.walk(tree))[place]

    class Swap(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> ast.AST:
            return new if node is target else self.generic_visit(node)

    return ast.fix_missing_locations(Swap().visit(tree))


def _other_numbers(claim: Claim) -> Iterator[tuple[str, Data]]:
    def change(node: ast.AST) -> Iterator[ast.AST]:
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            for other in (node.value + 1, node.value - 1, 2 * node.value):
                if other > 0 and other != node.value:
                    yield ast.Constant(other)

    yield from _rewritten(claim, change, ("terms", "definitions"))


def _other_functions(claim: Claim) -> Iterator[tuple[str, Data]]:
    others = {"max": ("min",), "min": ("max",), "log": ("sqrt",)}

    def change(node: ast.AST) -> Iterator[ast.AST]:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            name = node.func.id
            for other in others.get(name, ()):
                yield ast.Call(ast.Name(other), node.args, [])
            if len(node.args) == 1:
                yield node.args[0]
            else:
                yield from (node.args[0], node.args[-1])

    yield from _rewritten(claim, change, ("terms", "definitions"))


def _shifted_counters(claim: Claim) -> Iterator[tuple[str, Data]]:
    counter = claim.counter

    def change(node: ast.AST) -> Iterator[ast.AST]:
        if isinstance(node, ast.Name) and node.id == counter:
            other = "T" if counter == "K" else "K"
            for text in (f"({counter} + 1)", f"(2*{counter})", f"({counter}**2)", f"({counter} + 5)", other):
                yield ast.parse(text, mode="eval").body

    yield from _rewritten(claim, change, ("terms",))


def _swapped_symbols(claim: Claim) -> Iterator[tuple[str, Data]]:
    def change(node: ast.AST) -> Iterator[ast.AST]:
        if isinstance(node, ast.Name):
            for old, new in _SWAPS:
                if node.id == old and (new == "1" or new in claim.reads()):
                    yield ast.parse(new, mode="eval").body

    yield from _rewritten(claim, change, ("terms", "definitions", "step"))


def _dropped_conditions(claim: Claim) -> Iterator[tuple[str, Data]]:
    for text in claim.data.get("conditions", ()):
        data = _copy(claim)
        data["conditions"] = [other for other in claim.data["conditions"] if other != text]
        yield f"condition {text} dropped", data


def _relaxed_conditions(claim: Claim) -> Iterator[tuple[str, Data]]:
    for text in claim.data.get("conditions", ()):
        left, right = (side.strip() for side in text.split("<="))
        for scale in ("2", "5/4"):
            data = _copy(claim)
            data["conditions"] = [
                f"{left} <= {scale}*({right})" if other == text else other for other in claim.data["conditions"]
            ]
            if right != "0":
                yield f"condition {text} relaxed by {scale}", data


def _dropped_assumptions(claim: Claim) -> Iterator[tuple[str, Data]]:
    for name in claim.data["assumptions"]:
        data = _copy(claim)
        data["assumptions"] = [other for other in claim.data["assumptions"] if other != name]
        if name == "strongly-convex":
            data["assumptions"].insert(0, "convex")
            yield "strongly-convex becomes convex", data
        elif name in DEFINED_BY.values() or name == "uniform-sampling":
            yield f"assumption {name} dropped", data


def _other_steps(claim: Claim) -> Iterator[tuple[str, Data]]:
    for name, text in claim.data["step"].items():
        if str(text) in (name, claim.counter) or name in claim.data.get("settable", ()):
            continue
        for scale in ("2", "3", "4", "1/2", "1/4"):
            data = _copy(claim)
            data["step"][name] = f"{scale}*({text})"
            yield f"step {name} times {scale}", data


def _other_options(claim: Claim) -> Iterator[tuple[str, Data]]:
    for name in claim.data.get("options", {}):
        if name == "beta":  # FedAsync cannot do without
            continue
        data = _copy(claim)
        del data["options"][name]
        yield f"option {name} dropped", data
    if claim.data["algorithm"] == "gd" and "sampling" not in claim.data.get("options", {}):
        for word in ("uniform", "cyclic"):
            data = _copy(claim)
            data.setdefault("options", {})["sampling"] = word
            if word == "uniform":
                data["assumptions"] = [*data["assumptions"], "uniform-sampling"]
            yield f"option sampling becomes {word}", data
        if claim.data["step"].keys() == {"alpha"} and "decay" not in claim.data.get("options", {}):
            data = _copy(claim)
            data.setdefault("options", {})["decay"] = "sqrt"
            yield "option decay becomes sqrt", data


def _other_metrics(claim: Claim) -> Iterator[tuple[str, Data]]:
    other = _METRICS.get(claim.data["metric"])
    if other is not None:
        data = _copy(claim)
        data["metric"] = other
        yield f"metric becomes {other}", data


def _divided_noise(claim: Claim) -> Iterator[tuple[str, Data]]:
    def change(node: ast.AST) -> Iterator[ast.AST]:
        if isinstance(node, ast.Name) and node.id in ("sigma", "sigma_l", "zeta"):
            for divisor in ("sqrt(n)", "n"):
                yield ast.parse(f"({node.id}/{divisor})", mode="eval").body

    yield from _rewritten(claim, change, ("terms", "definitions"))


SLIPS = (
    _scaled_terms,
    _dropped_terms,
    _other_numbers,
    _other_functions,
    _shifted_counters,
    _swapped_symbols,
    _dropped_conditions,
    _relaxed_conditions,
    _dropped_assumptions,
    _other_steps,
    _other_options,
    _other_metrics,
    _divided_noise,
)
