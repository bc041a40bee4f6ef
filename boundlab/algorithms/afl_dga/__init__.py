"""AFL-DGA: its events, its compiler, and what theorems read off a schedule."""

from boundlab.algorithms.afl_dga._afl_dga import AFL_DGA as AFL_DGA
from boundlab.algorithms.afl_dga._afl_dga import AflDgaParameters as AflDgaParameters
from boundlab.algorithms.afl_dga._events import check_order as check_order
