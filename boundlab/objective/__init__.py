"""Problems: n client functions, their stochastic (sub)gradients, and certified constants."""

from boundlab.objective._by_client import by_client as by_client
from boundlab.objective._constants import OF_OBJECTIVE as OF_OBJECTIVE
from boundlab.objective._constants import Array as Array
from boundlab.objective._constants import Constant as Constant
from boundlab.objective._constants import GradientsOnSet as GradientsOnSet
from boundlab.objective._constants import LeastSquaresForm as LeastSquaresForm
from boundlab.objective._constants import Optimum as Optimum
from boundlab.objective._constants import QuadraticForm as QuadraticForm
from boundlab.objective._constants import Side as Side
from boundlab.objective._constants import StepBounds as StepBounds
from boundlab.objective._constants import along as along
from boundlab.objective._constants import step_growth as step_growth
from boundlab.objective._constants import step_moved as step_moved
from boundlab.objective._constants import step_rounding as step_rounding
from boundlab.objective._oracle import ERROR_OPTION as ERROR_OPTION
from boundlab.objective._oracle import NO_NOISY_PROX as NO_NOISY_PROX
from boundlab.objective._oracle import Oracle as Oracle
from boundlab.objective._problem import FullGradients as FullGradients
from boundlab.objective._problem import Problem as Problem
from boundlab.objective._problem_type import ProblemType as ProblemType
from boundlab.objective._wrapped import SameObjective as SameObjective
from boundlab.objective._wrapped import Wrapped as Wrapped
from boundlab.objective._wrapped import WrappedOracle as WrappedOracle
