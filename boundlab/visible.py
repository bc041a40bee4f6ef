"""Text of strangers is text: no character of it steers a terminal, or the direction of writing."""

import unicodedata

_STEERING = ("Cc", "Cf", "Cs", "Zl", "Zp")


def visible(text: str) -> str:
    r"""Return text in which characters that steer a terminal, or the direction of writing, are spelled out.

    Examples
    --------
    >>> print(visible("red: " + chr(27) + "[31m"))
    red: \x1b[31m
    """
    return "".join(
        one.encode("unicode_escape").decode("ascii") if unicodedata.category(one) in _STEERING and one != "\n" else one
        for one in text
    )
