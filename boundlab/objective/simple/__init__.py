"""The simple convex h of a composite objective F = f + h: proximal maps in every arithmetic, and certificates.

"Simple" is Nesterov's word (Gradient methods for minimizing composite functions, 2013): min_z h(z) + ‖z − x‖²/(2α) has
a closed form. Who runs a method needs that map; who certifies a minimiser, subgradients and a duality gap.
"""

from boundlab.objective.simple._l1 import L1 as L1
from boundlab.objective.simple._read import OPTIONS as OPTIONS, read_simple as read_simple
from boundlab.objective.simple._sets import BallIndicator as BallIndicator, BoxIndicator as BoxIndicator
from boundlab.objective.simple._simple import BoundedSet as BoundedSet, ProxFunction as ProxFunction
