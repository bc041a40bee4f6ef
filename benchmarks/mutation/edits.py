"""The errors that are planted: one changed operator, constant, sign, term, bound or statement each."""

import ast
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import final

_COMPARE: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.GtE),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.LtE),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.Mod: ast.Mult,
    ast.MatMult: ast.Mult,
}
_CALLS = {
    "min": "max",
    "max": "min",
    "Min": "Max",
    "Max": "Min",
    "minimum": "maximum",
    "maximum": "minimum",
    "any": "all",
    "all": "any",
    "floor": "ceil",
    "ceil": "floor",
    "lower": "upper",
    "upper": "lower",
    "argmin": "argmax",
    "argmax": "argmin",
    "cumsum": "cumprod",
    "nextafter": "maximum",
}


@final
@dataclass(frozen=True, slots=True)
class Mutant:
    """One planted error.

    Parameters
    ----------
    file
        The module, relative to the root of the repository.
    place
        The function or class that holds it, ``Class.method``; empty at the level of the module.
    start, end
        Where the text that is replaced begins and ends, in bytes of the file.
    before, after
        That text, and what stands there instead.
    lines
        First and last line of the statement: a test that runs none of them cannot notice.
    number
        Tells apart equal edits of one function, from 0 on.
    at_import
        Whether it stands outside of all functions: it runs when the module is imported.
    """

    file: str
    place: str
    start: int
    end: int
    before: str
    after: str
    lines: tuple[int, int]
    number: int = 0
    at_import: bool = False

    @property
    def id(self) -> str:
        """A name that survives edits elsewhere in the file."""
        again = f" #{self.number}" if self.number else ""
        return f"{self.file} {self.place or '(module)'}: {self.before} → {self.after}{again}"

    def applied(self, source: bytes) -> bytes:
        """Return the file with the error in it."""
        return source[: self.start] + self.after.encode() + source[self.end :]


def mutants(root: Path, file: str) -> list[Mutant]:
    """Return every error that can be planted in a module, in the order of its text."""
    source = (root / file).read_bytes()
    tree = ast.parse(source)
    offsets = [0]
    for line in source.splitlines(keepends=True):
        offsets.append(offsets[-1] + len(line))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    found, seen = [], dict[tuple[str, str, str], int]()
    for place, statement, node, after in _Walk().edits(tree):
        at_import = not any(one.lineno <= statement.lineno <= (one.end_lineno or 0) for one in functions)
        start = offsets[node.lineno - 1] + node.col_offset
        end = offsets[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
        before = source[start:end].decode()
        short = " ".join(before.split()), " ".join(after.split())
        number = seen[key] = seen.get(key := (place, *short), -1) + 1
        lines = statement.lineno, _last_line(statement)
        found.append(Mutant(file, place, start, end, short[0], after, lines, number, at_import))
    return sorted(found, key=lambda one: (one.start, one.end, one.after))


def sample(everything: Sequence[Mutant], wanted: int, seed: int) -> list[Mutant]:
    """Return a systematic sample: equally spaced in the order of the text, so that every module has its share."""
    if wanted >= len(everything):
        return list(everything)
    step = len(everything) / wanted
    offset = random.Random(seed).random() * step  # noqa: S311 -- no secret
    return [everything[int(offset + step * number)] for number in range(wanted)]


def _last_line(statement: ast.stmt) -> int:
    """Return the last line of a statement, for one that holds others that of its head."""
    body = getattr(statement, "body", None)
    if isinstance(body, list) and body:
        return max(statement.lineno, body[0].lineno - 1)
    return statement.end_lineno or statement.lineno


class _Walk:
    """Goes through a module and proposes edits, leaving out what no verdict depends on."""

    def edits(self, tree: ast.Module) -> Iterator[tuple[str, ast.stmt, ast.AST, str]]:
        """Give the place, the statement, the node that is replaced, and the new text."""
        yield from self._block(tree.body, ())

    def _block(self, body: Sequence[ast.stmt], place: tuple[str, ...]) -> Iterator[tuple[str, ast.stmt, ast.AST, str]]:
        for statement in body:
            match statement:
                case ast.Import() | ast.ImportFrom() | ast.Raise() | ast.Pass() | ast.Assert() | ast.Global():
                    continue
                case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                    continue
                case ast.FunctionDef() | ast.ClassDef():
                    inner = (*place, statement.name)
                    if statement.name not in ("__repr__", "__str__", "describe", "as_dict", "latex"):
                        yield from self._block(statement.body, inner)
                    continue
            where = ".".join(place)
            for node, after in (*_whole(statement, bool(place)), *self._inside(statement)):
                yield where, statement, node, after
            for name in ("body", "orelse", "finalbody"):
                yield from self._block(getattr(statement, name, []), place)
            for handler in getattr(statement, "handlers", []):
                yield from self._block(handler.body, place)
            for case in getattr(statement, "cases", []):
                yield from self._block(case.body, place)

    def _inside(self, statement: ast.stmt) -> Iterator[tuple[ast.expr, str]]:
        """Propose edits of a statement's own expressions; those of statements in its body come with them."""
        for name, value in ast.iter_fields(statement):
            if name in ("body", "orelse", "finalbody", "handlers", "cases", "annotation", "target", "targets"):
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.withitem):
                    child = child.context_expr
                if isinstance(child, ast.expr) and not _words(child):
                    yield from self._expression(child)

    def _expression(self, node: ast.expr) -> Iterator[tuple[ast.expr, str]]:
        if isinstance(node, ast.JoinedStr):
            return
        for after in _changed(node):
            yield node, f"({ast.unparse(after)})" if not isinstance(after, ast.Constant) else ast.unparse(after)
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.keyword):
                child = child.value
            if isinstance(child, ast.comprehension):
                for part in (child.iter, *child.ifs):
                    yield from self._expression(part)
            elif isinstance(child, ast.expr):
                yield from self._expression(child)


def _words(node: ast.expr) -> bool:
    """Return whether an expression is a docstring, or text by itself."""
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _whole(statement: ast.stmt, in_function: bool) -> Iterator[tuple[ast.AST, str]]:
    """Leave a statement out, or turn its condition round."""
    match statement:
        case ast.AugAssign() | ast.Expr(value=ast.Call()) if in_function:
            yield statement, "pass"
        case ast.If(test=test) | ast.While(test=test):
            yield test, f"(not ({ast.unparse(test)}))"
        case ast.Continue():
            yield statement, "pass"
        case ast.Break():
            yield statement, "pass"


def _changed(node: ast.expr) -> Iterator[ast.expr]:
    """Return what an expression may be replaced by, its parts as they are."""
    match node:
        case ast.Compare(left=left, ops=[*ops], comparators=right):
            for number, own in enumerate(ops):
                for other in _COMPARE[type(own)]:
                    yield ast.Compare(left, [*ops[:number], other(), *ops[number + 1 :]], right)
        case ast.BinOp(left, ast.Pow(), right):
            yield left
            yield ast.BinOp(left, ast.Pow(), ast.BinOp(right, ast.Add(), ast.Constant(1)))
        case ast.BinOp(left, own, right):
            if type(own) in _ARITHMETIC:
                yield ast.BinOp(left, _ARITHMETIC[type(own)](), right)
            yield left
            if isinstance(own, (ast.Add, ast.Mult)):
                yield right
        case ast.BoolOp(own, values):
            yield ast.BoolOp(ast.Or() if isinstance(own, ast.And) else ast.And(), values)
            for number in range(len(values)):
                rest = [*values[:number], *values[number + 1 :]]
                yield rest[0] if len(rest) == 1 else ast.BoolOp(own, rest)
        case ast.UnaryOp(ast.USub() | ast.Not(), operand):
            yield operand
        case ast.IfExp(test, body, orelse):
            yield ast.IfExp(test, orelse, body)
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value)):
            yield ast.Constant(value + 1)
        case ast.Constant(value=float(value)):
            yield ast.Constant(2.0 * value if value else 1.0)
        case ast.Call(ast.Name(name), args, keywords) if name in _CALLS:
            yield ast.Call(ast.Name(_CALLS[name]), args, keywords)
        case ast.Call(ast.Attribute(of, name), args, keywords) if name in _CALLS:
            yield ast.Call(ast.Attribute(of, _CALLS[name]), args, keywords)
        case ast.Call(ast.Name("abs" | "sqrt" | "Abs"), [inner], []):
            yield inner
