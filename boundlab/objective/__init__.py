"""Problems: n client functions, their stochastic (sub)gradients, and certified constants."""

from boundlab.objective._constants import (
    EPS as EPS,
    ERROR_OPTION as ERROR_OPTION,
    NO_NOISY_PROX as NO_NOISY_PROX,
    OF_OBJECTIVE as OF_OBJECTIVE,
    Constant as Constant,
    GradientsOnSet as GradientsOnSet,
    LeastSquaresForm as LeastSquaresForm,
    Optimum as Optimum,
    Oracle as Oracle,
    QuadraticForm as QuadraticForm,
    Side as Side,
    Sought as Sought,
    StepBounds as StepBounds,
    along as along,
    step_growth as step_growth,
    step_moved as step_moved,
    step_rounding as step_rounding,
)
from boundlab.objective._problem import FullGradients as FullGradients, Problem as Problem, ProblemType as ProblemType
from boundlab.objective._wrapped import (
    SameObjective as SameObjective,
    Wrapped as Wrapped,
    WrappedOracle as WrappedOracle,
)
from boundlab.objective.facts import against_mean as against_mean, alike as alike, by_client as by_client
from boundlab.randomness import Array as Array, Floats as Floats
