"""Every kind of result has a page, and every medium shows all of it."""

import inspect
import json
import re
from collections.abc import Iterable, Iterator
from functools import cache
from html import unescape
from importlib import import_module
from io import StringIO
from typing import Any, get_args

import pytest
from html_pages import read
from page_makers import RESULTS, closes_what_it_opens, page_of, result_of, texts
from rich.console import Console

import boundlab as bl
from boundlab.compare import Comparison
from boundlab.pages import _PAGES, page
from boundlab.pages.blocks import (
    GAP,
    Block,
    Chart,
    Commands,
    Fold,
    FormulaBlock,
    Part,
    Points,
    Section,
    as_data,
    from_data,
    line,
    table,
    words,
)
from boundlab.pages.html import document, fragment, mathml
from boundlab.pages.latex import latex, plain_latex
from boundlab.pages.markdown import markdown
from boundlab.pages.terminal import print_page
from boundlab.pages.theorem import Wording
from boundlab.registry import registered

TITLE = line("A page of ", ("everything", "code"))
Page = list[Block]


@pytest.mark.parametrize(("module", "name"), _PAGES.values())
def test_what_a_page_shows_is_said_by_the_function_that_makes_it_alone(module: str, name: str) -> None:
    made = getattr(import_module(f"boundlab.pages.{module}"), name)
    for option in [*inspect.signature(made).parameters][1:]:
        assert re.search(rf"\b{option}\b", made.__doc__), option
        assert f"``{option}``" not in f"{page.__doc__}{Comparison.page.__doc__}", option


@cache
def pages(name: str) -> Page:
    return EVERY_BLOCK if name == "every block" else page_of(result_of(name))


EVERY_BLOCK: Page = [
    words("words ", ("strong", "strong"), ("$x_1 <b> & ~ | `q`", "code"), (" note", "note")),
    GAP,
    Points((line(("good", "good")), line(("bad", "bad"), " and ", ("open", "open")), line(("marked", "mark")))),
    FormulaBlock((("a", "=", "b"), ("", "≤", "c")), r"a &= b \\ &\le c"),
    FormulaBlock((("a ≤ b",), ("where c = 1",))),
    table(
        "numbers", ("name", line("k ", ("dim", "dim"))), [("a|b", "1"), ("c\n  below", "2")], numbers=(1,), whole=(0,)
    ),
    Commands(("boundlab show x --core",)),
    words("repeat: ", ("boundlab list", "command")),
    Chart("a chart", "What it shows.", "<svg/>"),
    Part("a part", (Points((line("inside"),)), GAP, FormulaBlock((("d", "=", "e"),), "d &= e"), words("end"))),
    Fold("a fold", (words("behind"),)),
    Section("sec", "A section", (words("below"),), "good"),
]
every_page = pytest.mark.parametrize("name", ["every block", *RESULTS])


def flat(text: str) -> str:
    """Return text without space, since each medium breaks lines in its own way."""
    return "".join(text.split())


def bare(text: str) -> str:
    """Return text without what Markdown writes beside it: marks, escapes, and what stops a link."""
    return re.sub(r"[\\`*\u200b]", "", flat(text))


def test_the_page_of_every_block_has_every_kind_of_block() -> None:
    assert {type(block) for block in EVERY_BLOCK} == set(get_args(Block))


def test_every_block_comes_back_from_json_as_it_was() -> None:
    for block in EVERY_BLOCK:
        assert repr(from_data(json.loads(json.dumps(as_data(block))))) == repr(block)


@pytest.mark.sweep(13)
@pytest.mark.parametrize("name", RESULTS)
def test_every_result_has_a_line_and_a_page_for_notebooks(name: str) -> None:
    one = result_of(name)
    assert len(repr(one)) < 500
    assert "\n" not in repr(one)
    if name == "theorem":
        assert one._repr_latex_().startswith("$")
        return
    shown = one._repr_html_()
    assert shown == fragment(pages(name))
    assert shown.count("<table>") == shown.count("</table>") >= (name not in ("checks", "audit"))
    text = re.sub(r"<[^>]+>", "", shown)
    assert text.strip()
    assert "<" not in text
    assert "[/" not in text


def test_what_has_no_page_is_refused() -> None:
    with pytest.raises(TypeError, match="a str has no page"):
        page("a word")


@pytest.mark.sweep(4)
@every_page
@pytest.mark.parametrize("folded", [False, True])
def test_a_terminal_shows_every_text(name: str, folded: bool) -> None:
    found = StringIO()
    print_page(Console(file=found, width=10_000, markup=False, emoji=False), pages(name), folded=folded)
    shown = flat(found.getvalue())
    for text in texts(pages(name), folded=folded):
        for part in text.split("\n"):
            assert flat(part) in shown, part


@pytest.mark.sweep(2)
@every_page
def test_html_is_well_formed_and_shows_every_text(name: str) -> None:
    whole = document(TITLE, "A page", [Section("all", "All", tuple(pages(name)))])
    for shown, folded in ((whole, True), (fragment(pages(name)), False)):
        assert not read(shown).wrong
        read_aloud = re.sub(
            r'<math [^>]*alttext="([^"]*)".*?</math>', r"\1", shown
        )  # what stands in place of a formula
        seen = flat(unescape(re.sub(r"<(?!br)[^>]+>", "", read_aloud)).replace("<br>", ""))
        for text in texts(pages(name), folded=folded):
            assert flat(text) in seen, text
    assert "style=" not in whole
    assert "class=" not in fragment(pages(name)).replace('class="boundlab"', "").replace('class="option"', "")


@pytest.mark.sweep(2)
@every_page
def test_markdown_shows_every_text(name: str) -> None:
    shown = markdown(TITLE, pages(name))
    assert shown.startswith("# A page of everything\n")
    seen = bare(unescape(shown))
    for text in texts(pages(name)):
        assert bare(text) in seen, text


@pytest.mark.sweep(3)
@every_page
@pytest.mark.parametrize("shown", [lambda blocks: latex(TITLE, blocks), plain_latex])
def test_latex_is_ascii_and_closes_what_it_opens(name: str, shown: Any) -> None:
    text = shown(pages(name))
    assert text.isascii()
    assert closes_what_it_opens(text)


def displayed(blocks: Iterable[Block]) -> Iterator[FormulaBlock]:
    for one in blocks:
        if isinstance(one, FormulaBlock):
            yield one
        yield from displayed(getattr(one, "blocks", ()))


@pytest.mark.sweep(29)
@pytest.mark.parametrize("name", registered("theorems"))
def test_every_statement_and_every_derivation_is_set_as_mathematics(name: str) -> None:
    theorem = bl.theorem(name)
    shown = [FormulaBlock(tuple((one,) for one in Wording(theorem).claim()), theorem.latex())]
    if theorem.refuted_by:
        shown += displayed(page(bl.exact(theorem)))
    for block in shown:
        found = mathml(block)
        assert len(found) == len(block.texts), block.latex
        for one in found:
            assert ">_<" not in unescape(one), block.latex  # a name such as K_m is one identifier


def test_upright_letters_side_by_side_are_one_name_and_a_subscript_stays_one() -> None:
    (found,) = mathml(FormulaBlock((("a",),), r"\mathrm{K\_m} + \mathrm{K_m} + \mathrm{d} x"))
    assert re.findall(r"<mi[^>]*>([^<]*)</mi>", found) == ["K_m", "K", "m", "d", "x"]


@pytest.mark.parametrize("source", ["", r"\nothing{x}", "a\\\\\nb\\\\\nc", "x^2^3"])
def test_what_is_no_latex_of_ours_is_left_to_its_text(source: str) -> None:
    assert mathml(FormulaBlock((("a",),), source)) == []
