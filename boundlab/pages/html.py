"""Pages as HTML: no network, no fonts or scripts from elsewhere, every text escaped.

A page of its own has a style and a script; a fragment, for a notebook, has only what stands in its tags.
"""

import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from html import escape, unescape
from typing import Final
from xml.etree import ElementTree

from boundlab.errors import visible
from boundlab.pages import blocks as kinds
from boundlab.pages.blocks import Block, FormulaBlock, Line, Piece, Rows, Section


def escaped(text: str) -> str:
    """Return text of which a browser reads no character as markup, and none steers a terminal."""
    return escape(visible(text))


# Style and script of the page: nothing is fetched, and without the script everything can be read.

STYLE = """
:root{color-scheme:light dark;--ground:#fff;--text:#1b1f24;--dim:#57606a;--line:#d0d7de;--panel:#f6f8fa;
--good:#1a6b3c;--bad:#b3261e;--open:#7a5200;--marked:#fff0b8;--link:#0550ae}
@media (prefers-color-scheme:dark){:root{--ground:#0f1318;--text:#e6e9ee;--dim:#a6afba;--line:#3a424c;--panel:#181e26;
--good:#6fcf97;--bad:#ff8a80;--open:#f2c14e;--marked:#4d3f00;--link:#79b8ff}}
*{box-sizing:border-box}
body{margin:0 auto;padding:1rem;max-width:60rem;background:var(--ground);color:var(--text);
font:1rem/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;overflow-wrap:break-word}
h1{font-size:1.5rem;line-height:1.25;margin:.5rem 0}
h2{font-size:1.2rem;margin:2rem 0 .5rem;border-bottom:1px solid var(--line);padding-bottom:.2rem}
p{margin:.5rem 0}
ul{margin:.3rem 0;padding-left:1.4rem}
code,pre,.formula{font-family:ui-monospace,"Cascadia Mono","DejaVu Sans Mono",Menlo,Consolas,monospace;font-size:.9em}
a{color:var(--link)}
nav ul{list-style:none;display:flex;flex-wrap:wrap;gap:.2rem 1rem;padding:0;font-size:.9rem}
.banner{border-left:.4rem solid var(--open);background:var(--panel);padding:.6rem 1rem;margin:1rem 0}
.good{color:var(--good);font-weight:600}.bad{color:var(--bad);font-weight:600}.open{color:var(--open);font-weight:600}
.banner.bad,.banner.good,.banner.open{color:var(--text);font-weight:400}
.banner.bad{border-color:var(--bad)}.banner.good{border-color:var(--good)}.dim{color:var(--dim)}
mark{background:var(--marked);color:var(--text);font-weight:600;padding:0 .15em}
.formula,.formulas{background:var(--panel);padding:.5rem .8rem;margin:.5rem 0;overflow-x:auto}
.formula{white-space:pre-wrap}.formulas div{margin:.45rem 0}
math{font-family:"STIX Two Math","Latin Modern Math","Cambria Math","Noto Sans Math",math;width:fit-content;margin:0}
.scroll{overflow-x:auto;margin:.5rem 0}
table{border-collapse:collapse;font-size:.9rem;min-width:100%}
caption{text-align:left;color:var(--dim);padding-bottom:.2rem}
th,td{text-align:left;vertical-align:top;padding:.25rem .6rem .25rem 0;border-bottom:1px solid var(--line)}
td.wide{min-width:12em;overflow-wrap:anywhere}
th.number,td.number{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
th button{all:unset;cursor:pointer;font-weight:600}
th button:focus-visible,.copy:focus-visible,summary:focus-visible,a:focus-visible,.scroll:focus-visible{
outline:2px solid var(--link);outline-offset:2px}
th[aria-sort=ascending] button::after{content:" \\25B2"}th[aria-sort=descending] button::after{content:" \\25BC"}
details{border:1px solid var(--line);border-radius:.3rem;padding:.3rem .8rem;margin:.6rem 0}
summary{cursor:pointer;font-weight:600}
.command{display:flex;gap:.5rem;align-items:flex-start;background:var(--panel);padding:.3rem .6rem;margin:.3rem 0}
.command code{flex:1;min-width:0;white-space:pre-wrap;overflow-wrap:anywhere}
.option{white-space:nowrap}
.copy{font:inherit;font-size:.8rem;padding:.1rem .5rem;border:1px solid var(--line);border-radius:.3rem;
background:var(--ground);color:var(--text);cursor:pointer}
figure{margin:1rem 0}figure img{width:100%;height:auto;max-width:44rem}
figcaption{font-size:.9rem;color:var(--dim)}
@media (prefers-color-scheme:dark){figure img{filter:invert(.92) hue-rotate(180deg)}}
@media (max-width:40rem){body{padding:.7rem}.command{flex-direction:column}}
@media print{:root{--ground:#fff;--text:#000;--dim:#444;--line:#bbb;--panel:#f4f4f4;--good:#1a6b3c;--bad:#b3261e;
--open:#7a5200;--marked:#fff0b8;--link:#000}
nav,.copy{display:none}figure img{filter:none}body{max-width:none;font-size:10pt;padding:0}h2{break-after:avoid}
figure,tr,.command,.banner{break-inside:avoid}.scroll,.formula,.formulas{overflow:visible}}
"""

SCRIPT = """
"use strict";
for (const button of document.querySelectorAll("button.copy")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const code = button.parentElement.querySelector("code");
    try {
      await navigator.clipboard.writeText(code.textContent);
    } catch {
      const range = document.createRange();
      range.selectNodeContents(code);
      getSelection().removeAllRanges();
      getSelection().addRange(range);
      if (!document.execCommand("copy")) { return; }
    }
    button.textContent = "copied";
    setTimeout(() => { button.textContent = "copy"; }, 1500);
  });
}
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      for (const one of heads) { one.removeAttribute("aria-sort"); }
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const text = (row) => row.cells[column].textContent;
      const order = (a, b) => text(a).localeCompare(text(b), "en", { numeric: true });
      const numbers = (a, b) => Number(text(a)) - Number(text(b));
      const rows = [...table.tBodies[0].rows].sort(head.classList.contains("number") ? numbers : order);
      table.tBodies[0].append(...(up ? rows : rows.reverse()));
    });
  });
}
let folded = [];
addEventListener("beforeprint", () => {
  folded = [...document.querySelectorAll("details:not([open])")];
  for (const one of folded) { one.open = true; }
});
addEventListener("afterprint", () => { for (const one of folded) { one.open = false; } });
"""


# Displayed formulas as MathML, which browsers show without a script and screen readers read aloud.


def mathml(block: FormulaBlock) -> list[str]:
    """Return the formulas of a block, a line each, with their text as the alternative.

    Empty where there is no LaTeX, where its lines are not those of the text, or where it cannot be converted: the text
    says it all. One line more is what LaTeX says about letters, which stands below a statement as a sentence.
    """
    rows = [one.rstrip(", \n").replace("&", " ") for one in re.split(r"\\\\\n", block.latex)] if block.latex else []
    if not 0 <= len(rows) - len(block.texts) <= 1:
        return []
    try:
        return [_formula(row, text) for row, text in zip(rows, block.texts, strict=False)]
    except Exception:  # a metric of a plug-in may have any LaTeX, and the converter has an error for each mistake
        return []


def _formula(latex: str, text: str) -> str:
    from latex2mathml.converter import convert_to_element

    root = convert_to_element(latex, display="block")
    root.set("alttext", text)
    for one in root.iter():
        one.text = unescape(one.text or "")
        for name in ("href", "style"):  # nothing of ours has them
            one.attrib.pop(name, None)
        if "\\" in one.text:
            raise ValueError(f"not converted: {one.text}")
    for one in list(root.iter()):
        _join_name(one)
    return ElementTree.tostring(root, encoding="unicode")


def _join_name(row: ElementTree.Element) -> None:
    r"""Make one identifier of an upright name such as ``\mathrm{K\_m}``, whose letters the converter keeps apart."""
    parts = list(row)
    upright = all(one.tag == "mi" and one.get("mathvariant") == "normal" for one in parts)
    if row.tag == "mrow" and len(parts) > 1 and upright:
        parts[0].text = "".join(one.text or "" for one in parts)
        for one in parts[1:]:
            row.remove(one)


_SORTABLE = 2  # rows
_TAGS: Final = {"strong": "strong", "code": "code", "command": "code", "mark": "mark", "note": "em"}
# A verdict's colour says what its word says, too; these read on white (4.5 : 1), and on a dark ground (3.9 : 1).
_INLINE: Final = {
    "good": "color:#00865a;font-weight:bold",
    "bad": "color:#d4380d;font-weight:bold",
    "open": "color:#a16a00;font-weight:bold",
    "dim": "opacity:.75",
    "p": "margin:.4em 0;text-align:left",
    "cell": "text-align:left;vertical-align:top",
    "number": "text-align:right;vertical-align:top",
    "formula": "font-family:monospace;white-space:pre-wrap",
    "command": "font-family:monospace",
}


def document(title: Line, heading: str, sections: Sequence[Section]) -> str:
    """Return one self-contained page.

    Parameters
    ----------
    title
        What stands above it.
    heading
        The same for a list of pages, with what this one comes down to.
    """
    links = "".join(f'<li><a href="#{one.id}">{escaped(one.title)}</a></li>' for one in sections)
    body = "\n".join(_Page().blocks(sections))
    # No other style or script runs, whatever a theorem says.
    own = f"style-src {_hash(STYLE)}; script-src {_hash(SCRIPT)}"
    policy = f"default-src 'none'; img-src data:; {own}; base-uri 'none'; form-action 'none'"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escaped(heading)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f"<header><h1>{_Page().line(title)}</h1></header>\n"
        f'<nav aria-label="Sections"><ul>{links}</ul></nav>\n<main>\n{body}\n</main>\n'
        f"<script>{SCRIPT}</script>\n</body>\n</html>\n"
    )


def fragment(blocks: Iterable[Block]) -> str:
    """Return a page for a notebook: as on a terminal, without charts and what is folded away."""
    return f'<div class="boundlab">{"".join(_Page(_INLINE).blocks(blocks))}</div>'


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _options_whole(command: str) -> str:
    """Keep each option on one line: a browser may break it behind a hyphen, and half an option is another word."""
    return re.sub(r"(?<!\S)--?[a-z][a-z-]*", r'<span class="option">\g<0></span>', command)


class _Page:
    """Blocks of one page.

    Parameters
    ----------
    inline
        Name → style, in place of classes.
    """

    def __init__(self, inline: Mapping[str, str] | None = None) -> None:
        self._inline = inline

    def _as(self, name: str) -> str:
        """Return the attribute that makes a tag look like its name."""
        if self._inline is None:
            return f' class="{name}"' if name not in ("p", "cell") else ""
        return f' style="{self._inline[name]}"' if name in self._inline else ""

    def line(self, words: Line) -> str:
        """Return words with their tones."""
        return "".join(map(self._piece, words))

    def _piece(self, one: Piece) -> str:
        found = escaped(one.text).replace("\n", "<br>")
        if not one.tone:
            return found
        if tag := _TAGS.get(one.tone):
            return f"<{tag}>{found}</{tag}>"
        return f"<span{self._as(one.tone)}>{found}</span>"

    def blocks(self, blocks: Iterable[Block], above: str = "") -> Iterator[str]:
        """Yield blocks, below a title: a table repeats none that stands right above it."""
        for block in blocks:
            match block:
                case kinds.Words() if block.words:
                    yield f"<p{self._as('p')}>{self.line(block.words)}</p>"
                    above = block.words[0].text if len(block.words) == 1 else above
                case kinds.Points() if block.points:
                    yield f"<ul>{''.join(f'<li>{self.line(one)}</li>' for one in block.points)}</ul>"
                case kinds.FormulaBlock():
                    yield self._formulas(block)
                case kinds.Rows():
                    yield self._table(block, titled=block.caption not in ("", above))
                case kinds.Commands():
                    yield "".join(map(self._command, block.commands))
                case kinds.Chart() if block.svg and self._inline is None:
                    data = b64encode(block.svg.encode()).decode()
                    image = f'<img alt="{escaped(block.title)}" src="data:image/svg+xml;base64,{data}">'
                    yield f"<figure>{image}<figcaption>{escaped(block.description)}</figcaption></figure>"
                case kinds.Chart():
                    yield f"<p{self._as('dim')}>{escaped(block.description)}</p>"
                case kinds.Fold() if self._inline is None:
                    own = "".join(self.blocks(block.blocks, block.title))
                    yield f"<details><summary>{escaped(block.title)}</summary>{own}</details>"
                case kinds.Section() if self._inline is None:
                    yield self._section(block)
                case kinds.Part() | kinds.Section():
                    yield f"<p{self._as('p')}><strong>{escaped(block.title)}</strong></p>"
                    yield from self.blocks(block.blocks, block.title)
                case _:
                    pass

    def _formulas(self, block: FormulaBlock) -> str:
        """Return formulas as a browser sets them; a notebook's page, which may be read without one, has their text."""
        if self._inline is None and (set_ones := mathml(block)):
            return f'<div class="formulas">{"".join(f"<div>{one}</div>" for one in set_ones)}</div>'
        return f"<div{self._as('formula')}>{'<br>'.join(map(escaped, block.texts))}</div>"

    def _section(self, block: Section) -> str:
        inside = "".join(self.blocks(block.blocks))
        if block.tone:
            inside = f'<div class="banner {block.tone}">{inside}</div>'
        head = f'<h2 id="{block.id}">{escaped(block.title)}</h2>'
        return f'<section aria-labelledby="{block.id}">{head}{inside}</section>'

    def _command(self, command: str) -> str:
        button = '<button type="button" class="copy" hidden>copy</button>' if self._inline is None else ""
        return f"<div{self._as('command')}><code>{_options_whole(escaped(command))}</code>{button}</div>"

    def _table(self, block: Rows, *, titled: bool) -> str:
        def kind(place: int) -> str:
            return "number" if place in block.numbers else "cell" if block.narrow(place) else "wide"

        looks = [self._as(kind(place)) or self._as("cell") for place in range(len(block.columns))]

        def row(cells: Sequence[Line], tag: str, scope: str = "") -> str:
            found = (f"<{tag}{scope}{look}>{self.line(one)}</{tag}>" for look, one in zip(looks, cells, strict=True))
            return f"<tr>{''.join(found)}</tr>"

        head, rows = row(block.columns, "th", ' scope="col"'), "".join(row(one, "td") for one in block.rows)
        sortable = self._as("sortable") if len(block.rows) >= _SORTABLE else ""
        caption = escaped(block.caption)
        shown = f"<caption>{caption}</caption>" if titled else ""
        named = f' tabindex="0" role="region" aria-label="{caption}"' if caption else ""
        return (
            f"<div{self._as('scroll')}{named}><table{sortable}>"
            f"{shown}<thead>{head}</thead><tbody>{rows}</tbody></table></div>"
        )
