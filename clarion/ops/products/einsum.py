"""Sums of products by labels: einsum, tensordot, bilinear.

Each pair of operands is contracted by one operation, which is a matrix product; its gradients are contractions too.
"""

from __future__ import annotations

import functools
from typing import Any

from ...core.description import normalize_dim
from ...core.devices import HOST
from ...core.namespace import lifted
from ...core.op import Op
from ...core.tensor import Tensor
from ...errors import ArgumentTypeError, ArgumentValueError, EngineError, ShapeError
from ..faces.api import functional, public
from ..faces.autocast import autocast
from .matmul import check_types, tensors

contract_op = Op("contract", "x y", "sx sy so", node="ViewBackward0", traits="product")
contract_op.vjp(
    x=lambda g, y, sx, sy, so, ops: ops.contract(g, y, so, sy, sx),
    y=lambda g, x, sx, sy, so, ops: ops.contract(x, g, sx, so, sy),
).jvp("each")

ELLIPSIS = 100  # labels from here on stand for the dimensions under an ellipsis, counted from the right
Labels = list[int]


# The notation --------------------------------------------------------------------------------------


def _subscripts(text: str, start: int, operand: int | None) -> list[Any]:
    """One term of an equation: letters, and Ellipsis."""
    items: list[Any] = []
    where = f"operand {operand}" if operand is not None else "the output"
    i = 0
    while i < len(text):
        char = text[i]
        if char == ".":
            if Ellipsis in items:
                raise EngineError(f"einsum(): found '.' for {where} for which an ellipsis was already found")
            if text[i : i + 3] != "...":
                raise EngineError(f"einsum(): found '.' for {where} that is not part of any ellipsis")
            items.append(Ellipsis)
            i += 2
        elif char.isascii() and char.isalpha():
            items.append(char)
        elif char != " ":
            raise EngineError(
                f"einsum(): invalid subscript given at index {start + i} in the equation string, subscripts must be in [a-zA-Z]"
            )
        i += 1
    return items


def _parse_equation(equation: str, n: int) -> tuple[list[list[Any]], list[Any] | None]:
    left, arrow, right = equation.partition("->")
    terms, start = [], 0
    for operand, part in enumerate(left.split(",")):
        if operand >= n:
            raise EngineError("einsum(): fewer operands were provided than specified in the equation")
        terms.append(_subscripts(part, start, operand))
        start += len(part) + 1
    if len(terms) < n:
        raise EngineError("einsum(): more operands were provided than specified in the equation")
    return terms, _subscripts(right, len(left) + 2, None) if arrow else None


def _parse_sublists(args: tuple[Any, ...]) -> tuple[list[Any], list[list[Any]], list[Any] | None]:
    """einsum(op1, [0, 1], op2, [1, 2], [0, 2]): numbers up to 51 for letters."""
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

    def letter(item: Any) -> Any:
        if item is Ellipsis:
            return item
        if not 0 <= item < 52:
            raise ArgumentValueError("einsum(): sublist subscripts must be in the range [0, 52)")
        return letters[item]

    operands = list(args[0 : 2 * (len(args) // 2) : 2])
    terms = [[letter(item) for item in sub] for sub in args[1::2]]
    return operands, terms, [letter(item) for item in args[-1]] if len(args) % 2 else None


def _labelled(operands: list[Any], terms: list[list[Any]]) -> list[Labels]:
    """A label for every dimension of every operand."""
    result = []
    for operand, (tensor, term) in enumerate(zip(operands, terms, strict=True)):
        ndim = tensor._array.ndim
        covered = ndim - len([item for item in term if item is not Ellipsis])
        if covered < 0 or (covered and Ellipsis not in term):
            how = "is more than" if covered < 0 and Ellipsis in term else "does not match"
            given = "" if Ellipsis in term else " and no ellipsis was given"
            raise ShapeError(
                f"einsum(): the number of subscripts in the equation ({len([i for i in term if i is not Ellipsis])}) {how} "
                f"the number of dimensions ({ndim}) for operand {operand}{given}"
            )
        labels: Labels = []
        for item in term:
            if item is Ellipsis:
                labels += range(ELLIPSIS + covered - 1, ELLIPSIS - 1, -1)
            else:
                labels.append(ord(item) - 65)
        result.append(labels)
    return result


def _output(labels: list[Labels], given: list[Any] | None) -> Labels:
    seen = [label for each in labels for label in each]
    hidden = sorted({label for label in seen if label >= ELLIPSIS}, reverse=True)
    if given is None:
        return hidden + sorted(label for label in set(seen) if seen.count(label) == 1 and label < ELLIPSIS)
    result: Labels = []
    for item in given:
        if item is Ellipsis:
            result += hidden
            continue
        label = ord(item) - 65
        if label in result:
            raise EngineError(f"einsum(): output subscript {item} appears more than once in the output")
        if label not in seen:
            raise EngineError(
                f"einsum(): output subscript {item} does not appear in the equation for any input operand"
            )
        result.append(label)
    return result


def _name(label: int) -> str:
    return "..." if label >= ELLIPSIS else chr(label + 65)


# The computation -----------------------------------------------------------------------------------


def _without_repeats(tensor: Any, labels: Labels, operand: int) -> tuple[Any, Labels]:
    """Diagonals for labels that an operand carries twice."""
    for label in list(dict.fromkeys(labels)):
        while labels.count(label) > 1:
            first = labels.index(label)
            second = labels.index(label, first + 1)
            sizes = tensor._array.shape[first], tensor._array.shape[second]
            if sizes[0] != sizes[1]:
                raise ShapeError(
                    f"einsum(): subscript {_name(label)} is repeated for operand {operand} but the sizes don't match, "
                    f"{sizes[1]} != {sizes[0]}"
                )
            tensor = lifted.diagonal(tensor, 0, first, second)
            labels = [each for i, each in enumerate(labels) if i not in (first, second)] + [label]
    return tensor, labels


def _sizes(operands: list[Any], labels: list[Labels]) -> dict[int, int]:
    sizes: dict[int, int] = {}
    for operand, (tensor, own) in enumerate(zip(operands, labels, strict=True)):
        for label, n in zip(own, tensor._array.shape, strict=True):
            known = sizes.get(label, 1)
            if known != 1 and n != 1 and known != n:
                raise ShapeError(
                    f"einsum(): subscript {_name(label)} has size {n} for operand {operand} which does not broadcast with "
                    f"previously seen size {known}"
                )
            sizes[label] = n if known == 1 else known
    return sizes


def _trimmed(tensor: Any, labels: Labels, sizes: dict[int, int], needed: set[int]) -> tuple[Any, Labels]:
    """Without dimensions of size 1 that others stretch, and with those summed that no one else needs."""
    shape = tensor._array.shape
    stretched = [i for i, label in enumerate(labels) if shape[i] == 1 and sizes[label] != 1 and label in needed]
    if stretched:
        tensor = lifted.reshape(tensor, tuple(n for i, n in enumerate(shape) if i not in stretched))
        labels = [label for i, label in enumerate(labels) if i not in stretched]
    alone = tuple(i for i, label in enumerate(labels) if label not in needed)
    if alone:
        tensor = lifted.sum(tensor, alone, False)
        labels = [label for label in labels if label in needed]
    return tensor, labels


def _pair(x: Any, y: Any, sx: Labels, sy: Labels, so: Labels) -> Any:
    """One contraction; a product where nothing is summed."""
    if any(label not in so for label in sx):
        check_types(x._array, y._array, "bmm")
        return contract_op.call(x, y, tuple(sx), tuple(sy), tuple(so))
    return _spread(x, sx, so) * _spread(y, sy, so)


def _spread(x: Any, labels: Labels, target: Labels) -> Any:
    """Dimensions in the order of `target`, of size 1 where missing."""
    order = tuple(labels.index(label) for label in target if label in labels)
    if order != tuple(range(len(order))):
        x = lifted.permute(x, order)
    if len(labels) < len(target):
        shape = iter(x._array.shape)
        x = lifted.reshape(x, tuple(next(shape) if label in labels else 1 for label in target))
    return x


def _order(labels: list[Labels], output: Labels, sizes: dict[int, int]) -> list[tuple[int, ...]]:
    """Which pairs to contract, one after the other."""
    if len(labels) == 2:
        return [(0, 1)]
    known = sorted(sizes)
    terms = [list(map(known.index, own)) for own in labels]
    dummies = [HOST.xp.broadcast_to(HOST.xp.float32(0), [sizes[label] for label in own]) for own in labels]
    args = [item for pair in zip(dummies, terms, strict=True) for item in pair]
    path = HOST.xp.einsum_path(*args, list(map(known.index, output)), optimize="greedy")[0]
    return [tuple(step) for step in path[1:]]


def contract_all(operands: list[Any], labels: list[Labels], output: Labels) -> Any:
    """The sum of products of all operands, over all labels that are not in the output."""
    repaired = [_without_repeats(t, own, i) for i, (t, own) in enumerate(zip(operands, labels, strict=True))]
    operands, labels = [t for t, _ in repaired], [own for _, own in repaired]
    sizes = _sizes(operands, labels)
    for i, (tensor, own) in enumerate(zip(operands, labels, strict=True)):
        others = {label for j, each in enumerate(labels) if j != i for label in each}
        operands[i], labels[i] = _trimmed(tensor, own, sizes, others | set(output))
    if len(operands) == 1:
        return _spread(operands[0], labels[0], output)
    for step in _order(labels, output, sizes):
        places = sorted(step)
        chosen = [(operands.pop(p), labels.pop(p)) for p in reversed(places)][::-1]
        while len(chosen) > 1:
            (x, sx), (y, sy) = chosen.pop(0), chosen.pop(0)
            later = {label for own in (*labels, *(own for _, own in chosen), output) for label in own}
            last = not operands and not chosen
            so = output if last else [label for label in dict.fromkeys(sx + sy) if label in later]
            x, sx = _trimmed(x, sx, sizes, set(sy) | later)
            y, sy = _trimmed(y, sy, sizes, set(sx) | later)
            chosen.insert(0, (_pair(x, y, sx, sy, so), list(so)))
        operands.append(chosen[0][0])
        labels.append(chosen[0][1])
    return operands[0]


@functools.lru_cache(1024)
def _one_contraction(
    equation: str, left: tuple[int, ...], right: tuple[int, ...]
) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]] | None:
    """The labels of an equation for two operands of these shapes, if it is one contraction of them as they are."""
    terms, given = _parse_equation(equation, 2)
    if given is None or any(Ellipsis in term for term in (*terms, given)):
        return None
    sx, sy = (tuple([ord(item) - 65 for item in term]) for term in terms)
    so = tuple([ord(item) - 65 for item in given])
    if (len(sx), len(sy)) != (len(left), len(right)) or any(len(set(own)) < len(own) for own in (sx, sy, so)):
        return None
    sizes = dict(zip(sx, left, strict=True))
    for label, n in zip(sy, right, strict=True):
        if sizes.setdefault(label, n) != n:
            return None
    paired = set(sx) & set(sy)
    needed = paired | set(so)
    if not needed.issuperset(sizes) or not sizes.keys() >= set(so) or paired.issubset(so):
        return None
    return sx, sy, so


# Public faces --------------------------------------------------------------------------------------


def _contracts(equation: Any, *operands: Any) -> bool:
    """Is anything summed over pairs? (Else einsum only moves and multiplies.)"""
    if not isinstance(equation, str) or len(operands) < 2:
        return not isinstance(equation, str) and len(operands) > 2
    inputs, arrow, output = equation.replace(" ", "").partition("->")
    letters = [c for c in inputs if c.isalpha()]
    if not arrow:
        return len(set(letters)) < len(letters)
    return any(c not in output for c in letters)


@public(method=False)
@autocast("lower", when=_contracts)
def einsum(*args: Any) -> Any:
    """The sum of products of the elements of tensors along dimensions given by an equation such as 'ij,jk->ik'."""
    if len(args) < 2:
        raise ArgumentValueError(
            "einsum(): must specify the equation string and at least one operand, or at least one operand and its subscripts list"
        )
    if len(args) == 3 and type(args[0]) is str and isinstance(args[1], Tensor) and isinstance(args[2], Tensor):
        x, y = args[1]._array, args[2]._array
        found = _one_contraction(args[0], x.shape, y.shape)
        if found is not None:
            check_types(x, y, "bmm")
            return contract_op.call(args[1], args[2], *found)
    if isinstance(args[0], Tensor):
        operands, terms, given = _parse_sublists(args)
    else:
        operands = list(args[1]) if len(args) == 2 and isinstance(args[1], (list, tuple)) else list(args[1:])
        if not isinstance(args[0], str):
            raise ArgumentTypeError(f"einsum(): argument 'equation' must be str, not {type(args[0]).__name__}")
        terms, given = _parse_equation(args[0], len(operands))
    tensors("einsum", *operands, names=("operands",) * len(operands))
    labels = _labelled(operands, terms)
    return contract_all(operands, labels, _output(labels, given))


@public(method=False, out=True)
@autocast("lower")
def tensordot(a: Any, b: Any, dims: Any = 2) -> Any:
    """The contraction of the last `dims` dimensions of a with the first of b, or of listed dimensions."""
    x, y = tensors("tensordot", a, b, names=("a", "b"))
    if isinstance(dims, Tensor):
        dims = dims._array.tolist()
    if isinstance(dims, (tuple, list)):
        over_a, over_b = ([d] if isinstance(d, int) else list(d) for d in dims)
    else:
        if dims < 0:
            raise EngineError(f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > min(x.ndim, y.ndim):
            raise EngineError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
        over_a, over_b = list(range(x.ndim - dims, x.ndim)), list(range(dims))
    if len(over_a) != len(over_b):
        raise EngineError("both dimension lists should have same length")
    over_a = [normalize_dim(d, x.ndim) for d in over_a]
    over_b = [normalize_dim(d, y.ndim) for d in over_b]
    labels_b = list(range(x.ndim, x.ndim + y.ndim))
    for i, j in zip(over_a, over_b, strict=True):
        m, n = x.shape[i], y.shape[j]
        if m != n and m != 1 and n != 1:
            raise ShapeError(
                "contracted dimensions need to match, but first has size "
                f"{m} in dim {i} and second has size {n} in dim {j}"
            )
        labels_b[j] = i
    for i, j in zip(over_a, over_b, strict=True):  # one side is summed alone, in its own type
        if x.shape[i] != y.shape[j] and x.dtype.kind in "iu":
            a, b = (
                (a.sum(i, keepdim=True, dtype=a.dtype), b)
                if y.shape[j] == 1
                else (a, b.sum(j, keepdim=True, dtype=b.dtype))
            )
    if not over_a:
        a, b = a.contiguous(), b.contiguous()  # as the product of a column and a row lies
    output = [i for i in range(x.ndim) if i not in over_a] + [label for label in labels_b if label >= x.ndim]
    return contract_all([a, b], [list(range(x.ndim)), labels_b], output)


@public(method=False)
@functional()
@autocast("plain")
def bilinear(input1: Any, input2: Any, weight: Any, bias: Any = None) -> Any:
    """input1 @ weight[k] @ input2 for every output feature k, plus bias."""
    x, y, w = tensors("bilinear", input1, input2, weight, names=("input1", "input2", "weight"))
    if x.ndim != y.ndim:
        raise ShapeError(f"bilinear(): input dimensions do not match: got {x.ndim} and {y.ndim}")
    if x.shape[:-1] != y.shape[:-1]:
        raise ShapeError(f"bilinear(): input batch dimensions do not match: got {list(x.shape)} and {list(y.shape)}")
    for number, size, want in ((1, x.shape[-1], w.shape[1]), (2, y.shape[-1], w.shape[2])):
        if size != want:
            raise ShapeError(
                f"bilinear(): input{number} size does not match weight size: got {size} but expected {want}"
            )
    if bias is not None and bias._array.shape[0] != w.shape[0]:
        raise ShapeError(
            f"bilinear(): bias size does not match weight size: got {bias._array.shape[0]} but expected {w.shape[0]}"
        )
    out = einsum("...i,kij,...j->...k", input1, weight, input2)
    return out if bias is None else out + bias
