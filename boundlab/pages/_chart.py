"""A chart as inline SVG: curves on logarithmic axes, in the colours of the page, told apart by dashes and marks too."""

import math
from collections.abc import Callable
from html import escape

from boundlab.arithmetic.writing import RAISED
from boundlab.errors import visible
from boundlab.pages.blocks import Chart, Curve

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
