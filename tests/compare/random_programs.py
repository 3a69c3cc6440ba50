"""Random programs over a pool of tensors, as data: both engines run the same one.

Views, writes in place, broadcasting, several types, leaves that are frozen or switched off for a while, and two backward
passes that add up. A step that is refused is noted with the kind of its error, and the program goes on. Shapes are not
changed in place under no_grad: PyTorch forgets how older views were taken.
"""

from __future__ import annotations

import random
import warnings
from typing import Any

VIEWS = (
    "x[0]", "x[..., :1]", "x[:, 1:]", "x.t()", "x.transpose(0, -1)", "x.unsqueeze(0)", "x.view(-1)", "x.expand(2, *x.shape)",
    "x.diagonal()", "x.narrow(0, 0, 1)", "x.flatten()", "x.squeeze()", "x.detach()", "x.reshape(-1)[::2]", "x.swapaxes(0, -1)",
    "x.split(1)[0]", "x.unbind()[-1]", "x.chunk(2)[0]", "x.movedim(0, -1)", "x.data",
)  # fmt: skip
MAKES = (
    "x * y", "x + y", "x - 2 * y", "x / (y.abs() + 1)", "x @ x.transpose(-1, -2)", "x.exp().clamp(max=3)", "x.sum(0)", "x.mean()",
    "x.relu()", "x.tanh() * y", "t.where(x > 0, x, y)", "t.cat([x, x])", "t.stack([x, x]).sum(0)", "x.cumsum(0)", "x.max(0)[0]",
    "x.softmax(-1)", "x.abs().sqrt()", "x.pow(2)", "t.maximum(x, y)", "x.double()", "x.to(t.float32)", "x.long().float() * y",
    "x.clone()", "x.contiguous()", "x.sort(0)[0]", "x.index_select(0, t.tensor([0]))", "x[t.tensor([0, 0])]", "x.flip(0)",
    "t.einsum('...i->...', x)", "x.logsumexp(0)", "x.roll(1, 0)", "t.lerp(x, y, 0.25)", "x.var()", "x.norm()", "x.sigmoid()",
    "t.addcmul(x, y, y)", "x.masked_fill(x < 0, 0.5)", "x.prod(0)", "t.dot(x.reshape(-1), x.reshape(-1))", "x.tril()",
)  # fmt: skip
WRITES = (
    "x.mul_(2)", "x.add_(y)", "x.neg_()", "x[0].mul_(3)", "x.clamp_(-1, 1)", "x[0] = 0.5", "x.copy_(y)", "x.zero_()",
    "x.exp_()", "x.sub_(y, alpha=2)", "x.t_()", "x.unsqueeze_(0)", "x.squeeze_()", "x.masked_fill_(x > 0, 0.1)", "x.div_(y.abs() + 1)",
    "x[:] = y", "x.relu_()", "x.detach_()", "x.requires_grad_(False)", "x.requires_grad_()", "x.transpose_(0, -1)",
    "x[..., 0] += y.sum()", "x.fill_(y.mean())", "x.sqrt_()", "x.addcmul_(y, y)", "x.tanh_()",
)  # fmt: skip


def steps(seed: int) -> list[tuple[str, int, int, bool]]:
    """A program: (text, number of x, number of y, under no_grad)."""
    draw = random.Random(seed)
    found = []
    for _ in range(draw.randint(4, 14)):
        text = draw.choice(draw.choices((VIEWS, MAKES, WRITES), (3, 4, 3))[0])
        turns = text in ("x.t_()", "x.unsqueeze_(0)", "x.squeeze_()", "x.transpose_(0, -1)")  # under no_grad: see below
        found.append((text, draw.randrange(30), draw.randrange(30), draw.random() < 0.15 and not turns))
    return found


def run(t: Any, seed: int) -> list[Any]:
    """What a program shows: kinds of errors, then values, types, strides and flags of all tensors, then gradients."""
    t.manual_seed(seed)
    kinds = random.Random(seed + 1)
    shapes = ((3, 2), (2,), (3, 1), (1, 2), ())
    pool: list[Any] = [
        t.randn(s, dtype=kinds.choice((t.float32, t.float64)), requires_grad=kinds.random() < 0.7) for s in shapes
    ]
    leaves, seen = list(pool), []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for text, i, j, quietly in steps(seed):
            scope = {"t": t, "x": pool[i % len(pool)], "y": pool[j % len(pool)]}
            try:
                with t.set_grad_enabled(not quietly):
                    if " = " in text or " += " in text:
                        exec(text, scope)
                    else:
                        pool.append(eval(text, scope))
                seen.append("done")
            except (RuntimeError, IndexError, TypeError, ValueError) as error:
                seen.append(_kind(error))
        for tensor in pool:
            seen.append(_shown(tensor))
        for _ in range(2):
            try:
                parts = [p.double().sum() * (k + 1) for k, p in enumerate(pool) if p.requires_grad and _usable(p)]
                sum(parts, t.zeros(())).backward(retain_graph=True)
            except RuntimeError as error:  # what had been reached by then is another question
                return [*seen, _kind(error)]
        seen += [None if leaf.grad is None else _shown(leaf.grad) for leaf in leaves]
    return seen


def _usable(x: Any) -> bool:
    """May it still be used? A view taken under no_grad may not, once its base was written."""
    try:
        return x.grad_fn is not None or True
    except RuntimeError:
        return False


def _kind(error: Exception) -> str:
    kinds = [cls.__name__ for cls in type(error).__mro__ if cls.__module__ == "builtins"]
    return "RuntimeError" if "RuntimeError" in kinds else kinds[0]


def _shown(x: Any) -> tuple[Any, ...]:
    values = [
        round(v, 4) + 0.0 if v == v and abs(v) < 1e6 else str(v)[:4] for v in x.detach().double().reshape(-1).tolist()
    ]
    try:
        leaf = x.is_leaf
    except RuntimeError as error:
        leaf = _kind(error)
    return values, str(x.dtype).split(".")[-1], tuple(x.shape), x.requires_grad, leaf
