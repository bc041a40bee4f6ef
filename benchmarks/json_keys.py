"""The keys of all documents, as docs/json.md shows them: read from the published schemas.

python -m benchmarks.json_keys           # says whether the page is as the schemas are
python -m benchmarks.json_keys --write   # writes that part of it anew
"""

import argparse
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from boundlab.records import published

PAGE = Path(__file__).parents[1] / "docs" / "json.md"
_BEGIN, _END = "<!-- keys: written by python -m benchmarks.json_keys --write -->\n", "<!-- end of keys -->"
_FILES = ("case", "counterexample", "certificate", "proof")
_MOST = 8  # choices that a line names
_SPELLED = str.maketrans({"|": r"\|", "*": r"\*", "<": "&lt;"})


def section() -> str:
    """Return that part of the page."""
    return "\n".join(("", *_section(), ""))


def page(text: str) -> str:
    """Return the page with that part as the schemas have it."""
    before, _, rest = text.partition(_BEGIN)
    return f"{before}{_BEGIN}{section()}{rest[rest.index(_END) :]}"


def described(schema: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the properties of each document that ``--json`` prints, by its name; those of all have none."""
    found = {"": schema["properties"]}
    for branch in schema["allOf"]:
        found[branch["if"]["properties"]["schema"]["const"]] = branch["then"]["properties"]
    return found


def _section() -> Iterator[str]:
    for name, properties in described(published("result")).items():
        yield from _table(f"`{name}`" if name else "Any document may have", properties)
    for name in _FILES:
        schema = published(name)
        yield from _table(f"A file `{name}`", schema["properties"], schema.get("$defs", {}))


def _table(title: str, properties: Mapping[str, Any], parts: Mapping[str, Any] = MappingProxyType({})) -> Iterator[str]:
    yield from (f"{title}:", "", "| key | what |", "|---|---|")
    for key, one in _keys(properties, parts):
        yield f"| `{key}` | {_words(one).translate(_SPELLED)} |"
    yield ""


def _keys(properties: Mapping[str, Any], parts: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    for key, one in properties.items():
        yield f"{above}{key}", one
        inner = one.get("items") if isinstance(one.get("items"), dict) else None
        of = inner or one
        found = parts.get(of.get("$ref", "").rpartition("/")[2], of)
        yield from _keys(found.get("properties", {}), parts, f"{above}{key}{'[]' if inner else ''}.")


def _words(one: Mapping[str, Any]) -> str:
    choice = one.get("enum", [])
    said = [one["description"]] if "description" in one else []
    return " ".join(
        [*said, *(["One of " + ", ".join(f"`{word}`" for word in choice) + "."] if 0 < len(choice) <= _MOST else [])]
    )


def main() -> None:
    """Compare the page with the schemas, or write it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write that part of docs/json.md anew")
    before = PAGE.read_text(encoding="utf-8")
    after = page(before)
    if parser.parse_args().write:
        PAGE.write_text(after, encoding="utf-8")
    elif before != after:
        sys.exit("docs/json.md is not as the schemas are: python -m benchmarks.json_keys --write")


if __name__ == "__main__":
    main()
