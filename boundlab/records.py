"""Files as typed records: read by msgspec, refused in one sentence, described by the JSON Schema of the record."""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from pkgutil import resolve_name
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, TypeVar, Union, get_args, get_origin

import msgspec

from boundlab.errors import BoundlabError, SpecError
from boundlab.options import closest, nearest

# Of files that are read as records, where it stands what their schemas are of; all others lie in the folder schemas.
_RECORDS: Final = {
    "case": "boundlab.case:SCHEMA_OF",
    "counterexample": "boundlab.case:COUNTEREXAMPLE",
    "theorem": "boundlab.theorems.record:SCHEMA_OF",
}
_SCHEMAS: Final = Path(__file__).parent / "schemas"
Read = TypeVar("Read")
_DRAFT: Final = "https://json-schema.org/draft/2020-12/schema"
_NOUNS: Final[Mapping[Any, str]] = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    dict: "a table",
    list: "a list",
}
_SHOWN: Final = 60  # characters of a wrong value


class Spec(msgspec.Struct):
    """A registered thing by its type; all else that stands there are its options."""

    type: Annotated[str, msgspec.Meta(description="boundlab list problems, or delays")]


def what(description: str, right: str = "", **limits: Any) -> msgspec.Meta:
    """Return what a field is, for its schema, and what would be right, for messages.

    Parameters
    ----------
    right
        A noun, such as ``a list of texts``; where empty, that of the type.
    limits
        As :class:`msgspec.Meta` takes them: ``ge``, ``min_length``, ….
    """
    return msgspec.Meta(description=description, extra={"right": right}, **limits)


def among(words: Iterable[str], description: str = "") -> msgspec.Meta:
    """Return what a text is that is one of some words."""
    known = tuple(words)
    rule = "^(" + "|".join(known) + ")$"
    return msgspec.Meta(
        description=description, pattern=rule, extra={"among": known}, extra_json_schema={"enum": [*known]}
    )


def needed(*ways: str) -> dict[str, Any]:
    """Return, for a schema, that one of some keys stands in a table, and not two."""
    return {"oneOf": [{"required": [name]} for name in ways]}


def record(kind: type[Read], raw: Any, where: str, error: type[BoundlabError] = SpecError) -> Read:
    """Return what a file says as a record of this kind.

    Parameters
    ----------
    raw
        Tables, lists, texts and numbers, as TOML and JSON have them.
    where
        What messages call the file.

    Raises
    ------
    BoundlabError
        Of the given type: the innermost value that is wrong, and what would be right.
    """
    try:
        return msgspec.convert(raw, kind)
    except msgspec.ValidationError:
        raise error(f"{where}{_mistake(kind, raw, '')}") from None


def schema_names() -> list[str]:
    """Return the names of the published schemas."""
    return sorted({*_RECORDS, *(one.stem for one in _SCHEMAS.glob("*.json"))})


def published(name: str) -> Any:
    """Return the JSON Schema of that name."""
    if name in _RECORDS:
        return json_schema(resolve_name(_RECORDS[name]))
    return json.loads((_SCHEMAS / f"{name}.json").read_text(encoding="utf-8"))


def json_schema(kind: Any) -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a record; its description is the record's docstring."""
    (found,), parts = msgspec.json.schema_components([kind], ref_template="#/$defs/{name}")
    own = parts.pop(found.pop("$ref").rpartition("/")[2])
    whole = {"$schema": _DRAFT, **own, **found, **({"$defs": parts} if parts else {})}
    return dict(_absent(whole))


def _absent(part: Any) -> Any:
    """Return a part of a schema in which what may be None may be absent: files do not write null."""
    if isinstance(part, list):
        return [_absent(one) for one in part if one != {"type": "null"}]
    if not isinstance(part, dict):
        return part
    found = {key: _absent(one) for key, one in part.items() if not (key == "default" and one is None)}
    if len(found.get("anyOf", ())) == 1:
        found = {**found.pop("anyOf")[0], **found}
    return found


def _mistake(kind: Any, value: Any, path: str) -> str:
    """Return where a value is wrong that is of no such kind, and what would be right."""
    kind, meta = _plain(kind, value)
    place = f", {path}: " if path else ": "
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct) and isinstance(value, dict):
        fields = {one.encode_name: one for one in msgspec.structs.fields(kind)}
        for name in value:
            if name not in fields and kind.__struct_config__.forbid_unknown_fields:
                return f"{place}unknown key {name!r}; {nearest(str(name), fields)}"
        for name, one in fields.items():
            if one.required and name not in value:
                return f"{place}{name} is missing" + _missing(_said(_plain(one.type, None)[1], "description"))
    for inner, one, name in _parts(kind, value, path):
        if not _fits(inner, one):
            return _mistake(inner, one, name)
    known = _said(meta, "among") or (get_args(kind) if get_origin(kind) is Literal else ())
    words = [str(one) for one in known if one != ""]
    right = f"one of {', '.join(words)}" if words else _said(meta, "right") or _noun(kind)
    close = closest(value, words) if isinstance(value, str) else ""
    shown = repr(value)
    shown = f"{shown if len(shown) <= _SHOWN else shown[:_SHOWN] + '…'}{f'; did you mean {close}?' if close else ''}"
    if not path:
        return f" must hold {right}, got {shown}"
    return f"{', ' if ': ' in path else ': '}{path} must be {right}, got {shown}"


def _plain(kind: Any, value: Any) -> tuple[Any, msgspec.Meta | None]:
    """Return a type without its notes, the member of a union that a value may be meant for, and the notes."""
    meta = None
    if get_origin(kind) is Annotated:
        kind, meta = kind.__origin__, next((one for one in kind.__metadata__ if isinstance(one, msgspec.Meta)), None)
    if get_origin(kind) in (Union, UnionType):
        some = [one for one in get_args(kind) if one is not NoneType]
        wanted = [one for one in some if isinstance(value, _shape(one))]
        if len(some) == 1 or wanted:
            inner, own = _plain((wanted or some)[0], value)
            return inner, own or meta
    return kind, meta


def _shape(kind: Any) -> type:
    """Return what a value of a type is in TOML and JSON."""
    kind = _plain(kind, None)[0]
    of = get_origin(kind) or kind
    return dict if isinstance(of, type) and issubclass(of, msgspec.Struct) else of if isinstance(of, type) else object


def _parts(kind: Any, value: Any, path: str) -> Iterator[tuple[Any, Any, str]]:
    """Yield the types, values and places of what stands in a table, or in a list of tables."""
    if isinstance(value, dict) and isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        for one in msgspec.structs.fields(kind):
            if one.encode_name in value:
                yield one.type, value[one.encode_name], f"{path}: {one.encode_name}" if path else one.encode_name
    elif isinstance(value, dict) and get_origin(kind) is dict:
        yield from ((get_args(kind)[1], one, f"{path}.{name}") for name, one in value.items())
    elif isinstance(value, list) and get_origin(kind) is list:
        each = enumerate(value, 1)
        yield from ((get_args(kind)[0], one, f"{path} {number}") for number, one in each if isinstance(one, dict))


def _fits(kind: Any, value: Any) -> bool:
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return False
    return True


def _said(meta: msgspec.Meta | None, key: str) -> Any:
    """Return what notes say: a description, or what is in the words of :func:`what` and :func:`among`."""
    if meta is None:
        return ""
    return (meta.description or "") if key == "description" else (meta.extra or {}).get(key, "")


def _missing(said: str) -> str:
    """Return what is missing, in the middle of a sentence."""
    return f": {said[0].lower()}{said[1:].rstrip('.')}" if said else ""


def _noun(kind: Any) -> str:
    """Return what a value of a type is, in words."""
    of = get_origin(kind) or kind
    if of is list and get_args(kind):
        return f"a list of {_noun(_plain(get_args(kind)[0], None)[0]).removeprefix('a ')}s"
    return _NOUNS.get(of, "a table")
