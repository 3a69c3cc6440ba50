"""Random programs of views and writes in place, as data: the same one runs in clarion, in PyTorch, and out of place.

A program is a list of steps `(kind, which, p, q)` of plain numbers; each runner reads them the same way. `which`
chooses one of the tensors made so far, p and q are brought into the range that makes sense.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Step = tuple[int, int, int, int]

VIEWS = ("transpose", "select", "narrow", "unsqueeze", "squeeze", "flatten", "diagonal", "expand", "unfold", "permute")
SPLITS = ("split", "unbind")
WRITES = ("mul_scalar", "mul_leaf", "add_tensor", "square", "zero", "neg_scaled")
SHAPES = ("t_", "unsqueeze_", "squeeze_")
KINDS = VIEWS + SPLITS + WRITES + SHAPES


def shape_step(name: str, x: Any, p: int, q: int) -> Any:
    """One view of `x` (an array or a tensor of either library), or None where it does not apply."""
    n, shape = x.ndim, tuple(x.shape)
    swap = (lambda a, i, j: a.swapaxes(i, j)) if isinstance(x, np.ndarray) else (lambda a, i, j: a.transpose(i, j))
    if name == "unsqueeze":
        return x[(slice(None),) * (p % (n + 1)) + (None,)] if n < 4 else None
    if name == "squeeze":
        return x.squeeze()
    if name == "flatten":
        return x.reshape(-1) if _contiguous(x) else None
    if name == "expand":
        if n >= 4:
            return None
        return np.broadcast_to(x, (2, *shape)) if isinstance(x, np.ndarray) else x.expand(2, *shape)
    if n == 0:
        return None
    d = p % n
    if name == "transpose":
        return swap(x, d, q % n)
    if name == "permute":
        order = tuple((i + p) % n for i in range(n))
        return x.transpose(order) if isinstance(x, np.ndarray) else x.permute(order)
    if name == "select":
        return x[(slice(None),) * d + (q % shape[d],)] if shape[d] else None
    if name == "narrow":
        start = q % shape[d] if shape[d] else 0
        return x[(slice(None),) * d + (slice(start, start + 2),)]
    if name == "unfold":
        if shape[d] < 2 or n >= 4:
            return None
        if isinstance(x, np.ndarray):
            return np.lib.stride_tricks.sliding_window_view(x, 2, d)
        return x.unfold(d, 2, 1)
    if name == "diagonal":
        return x.diagonal(q % 3 - 1, d, (d + 1) % n) if n >= 2 else None
    raise AssertionError(name)


def _contiguous(x: Any) -> bool:
    return bool(x.flags.c_contiguous) if isinstance(x, np.ndarray) else x.is_contiguous()


def overlapping(index: Any) -> bool:
    """Does a view show an element twice? (`index` says which element of the memory each one is.)"""
    return len(np.unique(index)) != index.size


def weight(shape: tuple[int, ...], seed: int) -> Any:
    """Fixed numbers of a shape."""
    return np.cos(np.arange(int(np.prod(shape)), dtype=np.float64) * (seed + 1) + seed).reshape(shape)


def written(name: str, x: Any, c: Any, w: Any, p: int) -> Any:
    """What a write puts in the place of `x`, out of place."""
    if name == "mul_scalar":
        return x * (1 + p % 3 / 4)
    if name == "mul_leaf":
        return x * c
    if name == "add_tensor":
        return x + w
    if name == "square":
        return x * x
    if name == "zero":
        return x * 0
    return x * -0.5


def write(name: str, x: Any, c: Any, w: Any, p: int) -> None:
    """The same write in place."""
    if name == "mul_scalar":
        x.mul_(1 + p % 3 / 4)
    elif name == "mul_leaf":
        x.mul_(c)
    elif name == "add_tensor":
        x.add_(w)
    elif name == "square":
        x.mul_(x.clone())
    elif name == "zero":
        x.mul_(0)
    else:
        x.mul_(-0.5)


class Plan:
    """Follows a program on indices alone: which steps apply, and which elements of the memory each tensor shows."""

    def __init__(self, shape: tuple[int, ...], order: tuple[int, ...]) -> None:
        size = int(np.prod(shape))
        # The clone of a permuted tensor keeps its order in memory.
        lying = tuple(shape[i] for i in order)
        back = tuple(np.argsort(order))
        self.tensors = [np.arange(size).reshape(lying).transpose(back)]
        self.frozen = [False]  # of split or unbind, or a view of such: may not be written
        self.gone: set[int] = set()  # nor used once anything has been written

    def usable(self, tensors: list[Any]) -> list[Any]:
        """Those of the tensors that may still be used."""
        return [tensor for i, tensor in enumerate(tensors) if i not in self.gone]

    def steps(self, program: list[Step]) -> Any:
        """Yield (name, tensor number, p, q) for every step that applies, keeping `tensors` up to date after it."""
        for kind, which, p, q in program:
            name = KINDS[kind % len(KINDS)]
            at = which % len(self.tensors)
            if at in self.gone:
                continue
            x = self.tensors[at]
            if name in VIEWS:
                made = shape_step(name, x, p, q)
                if made is None or made.size == 0:
                    continue
                self.tensors.append(np.asarray(made))
                self.frozen.append(self.frozen[at])
            elif name in SPLITS:
                if x.ndim == 0 or x.shape[0] < 2:
                    continue
                parts = list(x) if name == "unbind" else [x[:1], x[1:2]]
                self.tensors.append(np.asarray(parts[1]))
                self.frozen.append(True)
            elif name in SHAPES:
                if self.frozen[at] or (name == "t_" and x.ndim != 2) or (name == "unsqueeze_" and x.ndim > 3):
                    continue
                self.tensors[at] = x.T if name == "t_" else x[None] if name == "unsqueeze_" else x.squeeze()
            elif self.frozen[at] or overlapping(x):
                continue
            yield name, at, p, q
            if name in WRITES or name in SHAPES:
                self.gone.update(i for i, frozen in enumerate(self.frozen) if frozen)


def run_in_place(t: Any, program: list[Step], shape: tuple[int, ...], order: tuple[int, ...]) -> tuple[Any, ...]:
    """Run a program with real views and writes; returns the final values, the loss and the two leaves."""
    a = t.tensor(weight(shape, 3), requires_grad=True)
    c = t.tensor(1.5, dtype=t.float64, requires_grad=True)
    x = (a * 1.0).permute(order).contiguous().permute(tuple(int(i) for i in np.argsort(order))).clone()
    live = [x]
    plan = Plan(shape, order)
    for name, at, p, q in plan.steps(program):
        tensor = live[at]
        if name in VIEWS:
            live.append(shape_step(name, tensor, p, q))
        elif name == "split":
            live.append(tensor.split(1)[1])
        elif name == "unbind":
            live.append(tensor.unbind()[1])
        elif name in SHAPES:
            getattr(tensor, name)(*((0,) if name == "unsqueeze_" else ()))
        else:
            write(name, tensor, c, t.tensor(weight(tuple(tensor.shape), p)), p)
    live = plan.usable(live)
    return live, _loss(t, live), a, c


def run_out_of_place(t: Any, program: list[Step], shape: tuple[int, ...], order: tuple[int, ...]) -> tuple[Any, ...]:
    """Run a program on one flat vector that is computed anew at every write; nothing is a view of anything."""
    a = t.tensor(weight(shape, 3), requires_grad=True)
    c = t.tensor(1.5, dtype=t.float64, requires_grad=True)
    memory = (a * 1.0).permute(order).reshape(-1)
    plan = Plan(shape, order)
    for name, at, p, _ in plan.steps(program):
        if name in WRITES:
            index = plan.tensors[at]
            part = memory[t.tensor(index.reshape(-1).copy())].reshape(index.shape)
            new = written(name, part, c, t.tensor(weight(index.shape, p)), p).reshape(-1)
            place = np.zeros(memory.numel(), np.int64)
            place[index.reshape(-1)] = np.arange(index.size)
            inside = np.zeros(memory.numel(), bool)
            inside[index.reshape(-1)] = True
            memory = t.where(t.tensor(inside), new[t.tensor(place)], memory)
    live = [memory[t.tensor(i.reshape(-1).copy())].reshape(i.shape) for i in plan.usable(plan.tensors)]
    return live, _loss(t, live), a, c


def _loss(t: Any, live: list[Any]) -> Any:
    total = 0
    for i, x in enumerate(live):
        total = total + (x * t.tensor(weight(tuple(x.shape), i))).sum()
    return total
