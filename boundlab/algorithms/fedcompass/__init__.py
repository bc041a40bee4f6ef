"""FedCompass: its scheduler, its compiler, and what theorems read off a schedule."""

from boundlab.algorithms.fedcompass._fedcompass import FEDCOMPASS as FEDCOMPASS
from boundlab.algorithms.fedcompass._parameters import FedCompassParameters as FedCompassParameters
from boundlab.algorithms.fedcompass._scheduler import Assignment as Assignment
from boundlab.algorithms.fedcompass._scheduler import Compass as Compass
from boundlab.algorithms.fedcompass._scheduler import CompassRules as CompassRules
from boundlab.algorithms.fedcompass._scheduler import Group as Group
from boundlab.algorithms.fedcompass._scheduler import Moment as Moment
from boundlab.algorithms.fedcompass._scheduler import closed_loop as closed_loop
from boundlab.algorithms.fedcompass._scheduler import follow as follow
