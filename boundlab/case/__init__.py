"""One explicit run, as a file; problems and delays from words; and what a result depends on."""

from boundlab.case._case import Case as Case
from boundlab.case._case import RandomEvents as RandomEvents
from boundlab.case._case import load_case as load_case
from boundlab.case._case import other_cases as other_cases
from boundlab.case._case import own_case as own_case
from boundlab.case._case import plain as plain
from boundlab.case._case import read_case as read_case
from boundlab.case._case import replay as replay
