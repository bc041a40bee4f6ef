"""Executors: the same tape, read by different vector spaces.

An executor of one's own reads a tape row by row: :func:`rows`, with the registers of :func:`starts`.
"""

from boundlab.execute._rows import (
    Combine as Combine,
    Numbers as Numbers,
    Row as Row,
    Show as Show,
    Update as Update,
    own_numbers as own_numbers,
    rows as rows,
    starts as starts,
)
