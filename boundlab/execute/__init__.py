"""Executors: the same tape, read by different vector spaces.

An executor of one's own reads a tape row by row: :func:`rows`, with the registers of :func:`starts`.
"""

from boundlab.execute._rows import Combine as Combine
from boundlab.execute._rows import Numbers as Numbers
from boundlab.execute._rows import Row as Row
from boundlab.execute._rows import Show as Show
from boundlab.execute._rows import Update as Update
from boundlab.execute._rows import own_numbers as own_numbers
from boundlab.execute._rows import rows as rows
from boundlab.execute._rows import starts as starts
