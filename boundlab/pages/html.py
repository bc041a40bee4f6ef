"""Pages as HTML: no network, no fonts or scripts from elsewhere, every text escaped.

A page of its own has a style and a script; a fragment, for a notebook, has only what stands in its tags.
"""

import math
import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from html import escape, unescape
from itertools import count
from typing import Final
from xml.etree import ElementTree

from boundlab.arithmetic.writing import RAISED
from boundlab.errors import visible
from boundlab.pages import blocks as kinds
from boundlab.pages.blocks import Block, Chart, Curve, FormulaBlock, Line, Piece, Rows, Section

# A chart as inline SVG: curves on logarithmic axes, in the colours of the page, told apart by dashes and marks too.

_WIDTH, _HEIGHT = 640.0, 380.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 78.0, 16.0, 12.0, 46.0
_DASHES = ("", "8 4", "2 3", "10 3 2 3")
_WIDTHS = (3.0, 2.2, 2.0, 2.0)
_MOST_TICKS = 7
_Scale = Callable[[float], float]


def escaped(text: str) -> str:
    """Return text of which a browser reads no character as markup, and none steers a terminal."""
    return escape(visible(text))


def svg(chart: Chart, identity: str) -> str:
    """Return the chart, with a title and a description for those who do not see it, and its legend below it."""
    points = [point for curve in chart.curves for point in curve.points]
    if not points:
        return ""
    across = _scale([x for x, _ in points], _LEFT, _WIDTH - _RIGHT)
    up = _scale([y for _, y in points], _HEIGHT - _BOTTOM, _TOP)
    title, description = f"{identity}-title", f"{identity}-description"
    lines = [
        f'<svg role="img" aria-labelledby="{title} {description}" viewBox="0 0 {_WIDTH:g} {_HEIGHT:g}">',
        f'<title id="{title}">{escaped(chart.title)}</title>',
        f'<desc id="{description}">{escaped(chart.description)}</desc>',
        *_grid(points, across, up),
        *(_curve(one, across, up) for one in chart.curves if one.points),
        _name(f'x="{(_LEFT + _WIDTH - _RIGHT) / 2:g}" y="{_HEIGHT - 8:g}"', chart.across),
        _name(f'transform="translate(16 {(_HEIGHT - _BOTTOM) / 2:g}) rotate(-90)"', chart.up),
        "</svg>",
    ]
    return f"<figure>{''.join(lines)}<figcaption>{_legend(chart)}</figcaption></figure>"


def _name(place: str, words: str) -> str:
    return f'<text {place} class="name">{escaped(words)}</text>'


def _scale(values: list[float], low: float, high: float) -> _Scale:
    """Return where a value stands, with a margin of a twentieth; one value alone stands in the middle."""
    first, last = math.log10(min(values)), math.log10(max(values))
    pad = 0.05 * (last - first) or 0.1
    first, last = first - pad, last + pad
    return lambda value: low + (math.log10(value) - first) / (last - first) * (high - low)


def _ticks(values: list[float]) -> list[float]:
    """Return 1, 2 and 5 times powers of ten between two values, or the powers alone where these are many."""
    low, high = min(values), max(values)
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    for digits in ((1, 2, 5), (1, 3), (1,)):
        found = [digit * 10.0**power for power in range(first, last + 1) for digit in digits]
        found = [one for one in found if low * 0.999 <= one <= high * 1.001]
        if len(found) <= _MOST_TICKS:
            break
    every = math.ceil(len(found) / _MOST_TICKS) or 1
    return found[::every] if len(found) > 1 else sorted({low, high})


def _grid(points: list[tuple[float, float]], across: _Scale, up: _Scale) -> list[str]:
    lines = [f'<path class="axis" d="M{_LEFT:g} {_TOP:g}V{_HEIGHT - _BOTTOM:g}H{_WIDTH - _RIGHT:g}"/>']
    for value in _ticks([x for x, _ in points]):
        x = across(value)
        lines.append(f'<path class="grid" d="M{x:.1f} {_TOP:g}V{_HEIGHT - _BOTTOM:g}"/>')
        lines.append(f'<text x="{x:.1f}" y="{_HEIGHT - _BOTTOM + 18:g}" class="tick">{_number(value)}</text>')
    for value in _ticks([y for _, y in points]):
        y = up(value)
        lines.append(f'<path class="grid" d="M{_LEFT:g} {y:.1f}H{_WIDTH - _RIGHT:g}"/>')
        lines.append(f'<text x="{_LEFT - 6:g}" y="{y + 4:.1f}" class="tick up">{_number(value)}</text>')
    return lines


def _number(value: float) -> str:
    """Return a number as an axis shows it: 10⁻⁹ and no 1e-09."""
    mantissa, _, power = f"{value:.3g}".partition("e")
    if not power:
        return mantissa
    return f"{'' if mantissa == '1' else f'{mantissa}·'}10{str(int(power)).translate(RAISED)}"


def _curve(curve: Curve, across: _Scale, up: _Scale) -> str:
    style = curve.style % len(_DASHES)
    path = "L".join(f"{across(x):.1f} {up(y):.1f}" for x, y in curve.points)
    marks = "".join(
        f'<circle cx="{across(x):.1f}" cy="{up(y):.1f}" r="{4.5 - 0.7 * style:g}"/>' for x, y in curve.points
    )
    return (
        f'<g class="curve c{style}"><path d="M{path}" stroke-width="{_WIDTHS[style]:g}" '
        f'stroke-dasharray="{_DASHES[style]}"/>{marks}</g>'
    )


def _legend(chart: Chart) -> str:
    found = []
    for curve in chart.curves:
        style = curve.style % len(_DASHES)
        found.append(
            f'<span class="key"><svg aria-hidden="true" viewBox="0 0 36 12" class="sample"><g class="curve c{style}">'
            f'<path d="M1 6H35" stroke-width="{_WIDTHS[style]:g}" stroke-dasharray="{_DASHES[style]}"/></g></svg> '
            f"{escaped(curve.label)}</span>"
        )
    return " ".join(found)


# Style and script of the page: nothing is fetched, and without the script everything can be read.

STYLE = """
:root{color-scheme:light dark;--ground:#fff;--text:#1b1f24;--dim:#57606a;--line:#d0d7de;--panel:#f6f8fa;
--good:#1a6b3c;--bad:#b3261e;--open:#7a5200;--marked:#fff0b8;--link:#0550ae;--c0:#0060a8;--c1:#b84a00;--c2:#00734f;--c3:#8f3f77}
@media (prefers-color-scheme:dark){:root{--ground:#0f1318;--text:#e6e9ee;--dim:#a6afba;--line:#3a424c;--panel:#181e26;
--good:#6fcf97;--bad:#ff8a80;--open:#f2c14e;--marked:#4d3f00;--link:#79b8ff;--c0:#6cb8ff;--c1:#ff9e5e;--c2:#53cfa2;--c3:#e39acb}}
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
figure{margin:1rem 0}figure>svg{width:100%;height:auto;max-width:44rem}
figcaption{font-size:.9rem}.key{display:inline-block;margin-right:1.2rem}.sample{width:2.2rem;height:.75rem}
svg text{fill:var(--text);font-size:13px}svg .tick,svg .name{text-anchor:middle}svg .up{text-anchor:end}
svg .axis{fill:none;stroke:var(--dim)}svg .grid{stroke:var(--line);stroke-width:.7}
.curve path{fill:none}.c0{--c:var(--c0)}.c1{--c:var(--c1)}.c2{--c:var(--c2)}.c3{--c:var(--c3)}
.curve path{stroke:var(--c)}.curve circle{fill:var(--c)}
@media (max-width:40rem){body{padding:.7rem}.command{flex-direction:column}}
@media print{:root{--ground:#fff;--text:#000;--dim:#444;--line:#bbb;--panel:#f4f4f4;--good:#1a6b3c;--bad:#b3261e;
--open:#7a5200;--marked:#fff0b8;--link:#000;--c0:#0060a8;--c1:#b84a00;--c2:#00734f;--c3:#8f3f77}
nav,.copy{display:none}body{max-width:none;font-size:10pt;padding:0}h2{break-after:avoid}
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
    policy = f"default-src 'none'; {own}; base-uri 'none'; form-action 'none'"
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
    """Blocks of one page, which number their charts.

    Parameters
    ----------
    inline
        Name → style, in place of classes.
    """

    def __init__(self, inline: Mapping[str, str] | None = None) -> None:
        self._inline = inline
        self._numbers = count(1)

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
                case kinds.Chart() if self._inline is None:
                    yield svg(block, f"chart-{next(self._numbers)}")
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
