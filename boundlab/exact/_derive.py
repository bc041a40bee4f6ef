"""Put a derivation together: from what the exact engine tells to what a referee reads."""

from boundlab.arithmetic import numbers
from boundlab.arithmetic.numbers import Scalar
from boundlab.arithmetic.writing import Sentence, sides, words
from boundlab.exact._aggregation_rows import of_models, of_moments
from boundlab.exact._derivation import STANDS_ON, Derivation, DerivationSection
from boundlab.exact._instance import ExactSetting, instance
from boundlab.exact._rows import Account, of_outcomes
from boundlab.exact._sides import inequality, left_side, right_side, stands_on
from boundlab.exact._trace import ExactTrace, Models, MomentsOf, Outcomes


def derive(
    at: ExactSetting, trace: ExactTrace, left: Scalar, right: Scalar, *, above: bool | None, verdict: Sentence
) -> Derivation:
    """Return the derivation.

    Parameters
    ----------
    left, right
        Both sides as the engine has them: exact numbers, or balls of the present precision.
    above
        Whether left > right; None where no precision tells.

    Raises
    ------
    ArithmeticError
        If the rows do not sum to the engine's left side.
    """
    account = _account(at, trace)
    require_same(account.total, left)
    comparison, whole = inequality(left, right, above=above)
    by_hand = account.by_hand and whole
    sections: tuple[DerivationSection, ...] = (
        DerivationSection("The instance", tuple(instance(at))),
        DerivationSection("What happens", (words(f"found by {at.method}"), *account.items)),
        DerivationSection("The left side", tuple(left_side(at.plan.theorem, account, left))),
        DerivationSection("The right side", tuple(right_side(at, right))),
        DerivationSection("The inequality", (*comparison, verdict)),
    )
    if standing := tuple(stands_on(at)):
        sections += (DerivationSection(STANDS_ON, standing),)
    return Derivation(at.plan.theorem.id, by_hand, sections)


def _account(at: ExactSetting, trace: ExactTrace) -> Account:
    match trace:
        case Outcomes():
            return of_outcomes(at, trace)
        case Models():
            return of_models(at, trace)
        case MomentsOf():
            return of_moments(at, trace)


def require_same(total: Scalar, left: Scalar) -> None:
    """Make sure that the rows sum to the left side.

    Raises
    ------
    ArithmeticError
        If they do not.
    """
    if sides(total) is None or sides(left) is None:
        same = bool(numbers.ball(total).overlaps(numbers.ball(left)))
    else:
        same = numbers.sign(total - left) == 0
    if not same:
        raise ArithmeticError(
            f"the rows of the derivation sum to {numbers.text(total)}, the engine found {numbers.text(left)}"
        )
