"""The last layer of a network as a convex problem: what comes into it are the features."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from boundlab.arguments import checked
from boundlab.arithmetic.tensors import load_torch
from boundlab.case import build_problem
from boundlab.errors import SpecError
from boundlab.objective import Problem
from boundlab.options import device_order, nearest, typed
from boundlab.registry import registered

if TYPE_CHECKING:
    import torch

_AT_ONCE = 1024  # samples
_NEEDS = "the features of a network need torch: pip install 'boundlab[torch]'"


@checked
def problem_from_head(
    module: "torch.nn.Module",
    X: Any,
    y: Any,
    loss: str = "softmax",
    *,
    by: Sequence[Any] | None = None,
    **options: Any,
) -> Problem:
    """Return the problem of training the last layer of a network whose other layers are frozen: it is convex.

    Parameters
    ----------
    module
        Ends in a ``torch.nn.Linear``. It is called without gradients and in evaluation mode, and left as it was.
    X
        Samples as the module takes them, shape (S, …): a tensor, an array or lists.
    y
        Labels or values, shape (S,); for softmax as many classes as the layer has outputs.
    loss
        A problem on data: softmax, or one whose margin is a number, such as logistic or least-squares.
    by
        A name of its client for each sample, shape (S,): clients are in the order of
        :func:`boundlab.options.device_order`. Without it, options split the samples.
    options
        Those of the problem: ``clients``, ``partition``, ``nu``, ``batch``, …; ``bias`` is by default as the layer has
        it.

    Returns
    -------
    Problem
        Its features, in float64, are the layer's inputs; it holds no part of the network.

    Raises
    ------
    SpecError
        If the module does not end in a ``torch.nn.Linear`` of the right number of outputs, whose inputs are a row a
        sample and do not depend on its own weights; or an option is wrong.
    MissingExtraError
        If torch is not installed.

    Examples
    --------
    >>> import torch
    >>> net = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.ReLU(), torch.nn.Linear(3, 2))
    >>> problem_from_head(net, torch.eye(4), [0, 1, 1, 0], nu=0.1, by=["a", "a", "b", "b"]).d
    8
    """
    torch = load_torch(_NEEDS)
    families = {name: one for name, one in registered("problems").items() if "owners" in one.options}
    if loss not in families:
        raise SpecError(f"loss={loss!r} is no problem on data; {nearest(loss, families)}")
    if not isinstance(module, torch.nn.Module):
        raise SpecError(f"the network must be a torch.nn.Module, got a {type(module).__name__}")
    try:
        labels = np.asarray(y.detach().cpu() if isinstance(y, torch.Tensor) else y)
        given = torch.as_tensor(X)
    except (TypeError, ValueError, RuntimeError) as error:
        raise SpecError(f"X and y must be tensors, or what becomes one: {' '.join(str(error).split())}") from None
    if labels.ndim != 1 or not len(labels) or given.shape[:1] != labels.shape:
        raise SpecError(f"X must have a row for each entry of y, got shapes {tuple(given.shape)} and {labels.shape}")
    weight = next((one for one in module.parameters() if one.is_floating_point()), given)
    given = given.to(weight.device, weight.dtype if given.is_floating_point() else given.dtype)
    with torch.no_grad(), ExitStack() as stack:
        for one in module.modules():
            stack.callback(setattr, one, "training", one.training)
        module.eval()
        head, features = _rows(torch, module, given)
    outputs = len(np.unique(labels)) if loss == "softmax" else 1
    if head.out_features != outputs:
        needs = f"{outputs} outputs, one for each class of y" if loss == "softmax" else "1 output"
        raise SpecError(f"the last layer has {head.out_features} outputs; {loss} needs {needs}")
    table = {"features": features.double().cpu().tolist(), "targets": labels.tolist(), "bias": head.bias is not None}
    if by is not None:
        names = [typed(one) for one in np.asarray(by).tolist()]
        rank = {name: place for place, name in enumerate(device_order(names))}
        table["owners"] = [rank[name] for name in names]
    return build_problem(loss, {**table, **options})


def _rows(torch: Any, module: "torch.nn.Module", given: "torch.Tensor") -> "tuple[torch.nn.Linear, torch.Tensor]":
    """Return the last layer, and what comes into it, shape (S, p)."""
    parts = torch.split(given, _AT_ONCE)
    head, first = _last(torch, module, lambda: module(parts[0].clone()))  # some layers write into their input
    if first.ndim != 2:
        raise SpecError(f"what comes into the last layer has shape {tuple(first.shape)}; it needs one row a sample")
    name = next(name for name, one in module.named_modules() if one is head)
    others = {".".join(filter(None, (name, key))): one + 1 for key, one in head.named_parameters()}
    _, again = _last(torch, module, lambda: torch.func.functional_call(module, others, (parts[0].clone(),)))
    if not torch.equal(first.nan_to_num(), again.nan_to_num()):
        raise SpecError("what comes into the last layer depends on the layer's own weights, or on chance")
    rest = [_last(torch, module, partial(module, part.clone()))[1] for part in parts[1:]]
    return head, torch.cat([first, *rest])


def _last(
    torch: Any, module: "torch.nn.Module", call: "Callable[[], torch.Tensor]"
) -> "tuple[torch.nn.Linear, torch.Tensor]":
    """Return the linear layer whose output is that of a call, and its input."""
    seen: list[tuple[Any, ...]] = []

    def note(layer: Any, inputs: Any, out: Any) -> None:
        linear = torch.nn.functional.linear(inputs[0], layer.weight, layer.bias)  # a subclass may do something else
        if torch.allclose(out, linear, equal_nan=True):
            seen.append((layer, inputs[0].clone(), out, out._version))

    hooks = [one.register_forward_hook(note) for one in module.modules() if isinstance(one, torch.nn.Linear)]
    try:
        out = call()
    except Exception as error:
        raise SpecError(f"the network cannot be called on X: {' '.join(str(error).split())}") from None
    finally:
        for hook in hooks:
            hook.remove()
    for layer, inputs, result, version in reversed(seen):
        if result is out and out._version == version:
            return layer, inputs
    raise SpecError("the network must end in a torch.nn.Linear whose output is the network's, unchanged")
