"""Displayed formulas as MathML, which browsers show without a script and screen readers read aloud."""

import re
from html import unescape
from xml.etree import ElementTree

from boundlab.pages.blocks import FormulaBlock


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
