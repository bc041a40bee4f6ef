"""What ``import boundlab as bl`` can ask: what the command line can, with strings or objects, and results to show.

Theorems, problems and delay models may be given by id or spec, by the path of a file, or as objects. Keywords that are
no parameter of a function are symbols of the theorem or options of its algorithm: numbers, text, or lists of numbers.
"""

from boundlab.api._ask import check as check
from boundlab.api._ask import compare as compare
from boundlab.api._ask import exact as exact
from boundlab.api._ask import falsify as falsify
from boundlab.api._ask import optimal_rate as optimal_rate
from boundlab.api._ask import prove as prove
from boundlab.api._ask import run as run
from boundlab.api._ask import theorem as theorem
from boundlab.api._ask import worst_case as worst_case
from boundlab.api._compared import Compared as Compared
from boundlab.api._compared import Horizons as Horizons
from boundlab.api._compared import Ran as Ran
from boundlab.api._judged import BestRate as BestRate
from boundlab.api._judged import Checks as Checks
from boundlab.api._judged import Decided as Decided
from boundlab.api._judged import Evaluated as Evaluated
from boundlab.api._judged import Searched as Searched
from boundlab.api._judged import Worst as Worst
from boundlab.api._shown import Shown as Shown
from boundlab.api._shown import fields_of as fields_of
