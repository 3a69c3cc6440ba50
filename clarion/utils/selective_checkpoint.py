"""Selective activation checkpointing: a policy says which operations of a region keep their results, and are not run again.

Both contexts see operations below the graph. The first one runs with the region and keeps what the policy wants kept; the
second one runs with the recomputation, and gives what was kept instead of running the operation, by how often it was called.
"""

from __future__ import annotations

import enum
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from .._ops import OpOverload, OpOverloadPacket
from ..core.devices import xp_of
from ..core.saved import fingerprint
from ..core.tensor import Tensor
from ..errors import ArgumentTypeError, ArgumentValueError, EngineError
from ..pytree import tree_leaves, tree_map
from ._python_dispatch import TorchDispatchMode


class CheckpointPolicy(enum.Enum):
    """What becomes of an operation's result: kept, or computed again in the backward pass."""

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4
    PREFER_CPU_OFFLOAD = 5


_KEPT = (
    CheckpointPolicy.MUST_SAVE,
    CheckpointPolicy.PREFER_SAVE,
    CheckpointPolicy.MUST_CPU_OFFLOAD,
    CheckpointPolicy.PREFER_CPU_OFFLOAD,
)


class SelectiveCheckpointContext:
    """What a policy is told beside the operation: its result. It is asked while the region runs, never again."""

    def __init__(self, *, is_recompute: bool, op_output: Any = None) -> None:
        self.is_recompute, self.op_output = is_recompute, op_output


class _Entry:
    """A result that was kept, and what it looked like."""

    def __init__(self, val: Any) -> None:
        self.val = val
        self._print = fingerprint(val._array) if isinstance(val, Tensor) else None

    def get_val(self, allow_cache_entry_mutation: bool) -> Any:
        """The result; refused where it has been written to since."""
        if self._print is not None and not allow_cache_entry_mutation and fingerprint(self.val._array) != self._print:
            raise EngineError(
                "Tensor cached during selective activation checkpoint has been mutated\nThe operation's result was kept, and "
                "then written in place: write out of place, or let the policy recompute it."
            )
        return self.val


_RECOMPUTE, _CONSUMED = object(), object()
_MISMATCH = "The region did other things when it ran again than at first: it must not depend on what has changed since."


class _CachingTorchDispatchMode(TorchDispatchMode):
    """Runs with the region."""

    def __init__(self, policy_fn: Callable[..., Any], storage: Any) -> None:
        super().__init__()
        self.policy_fn, self.storage = policy_fn, storage

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        out = func(*args, **kwargs)
        policy = self.policy_fn(SelectiveCheckpointContext(is_recompute=False, op_output=out), func, *args, **kwargs)
        keep = policy if isinstance(policy, bool) else policy in _KEPT
        keep = keep and "out" not in kwargs and not _is_view(out, args)
        self.storage[func].append(tree_map(_Entry, out) if keep else _RECOMPUTE)
        return out


class _CachedTorchDispatchMode(TorchDispatchMode):
    """Runs with the recomputation."""

    def __init__(self, policy_fn: Any, storage: Any, allow_cache_entry_mutation: bool = False) -> None:
        super().__init__()
        self.storage, self.allow_cache_entry_mutation = storage, allow_cache_entry_mutation
        self._called: dict[Any, int] = defaultdict(int)

    def __enter__(self) -> Any:
        self._called.clear()
        return super().__enter__()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        at = self._called[func]
        self._called[func] += 1
        kept = self.storage.get(func, ())
        if at >= len(kept):
            raise EngineError(f"{func} encountered during backward, but not found in storage. {_MISMATCH}")
        entry = kept[at]
        if entry is _RECOMPUTE:
            return func(*args, **(kwargs or {}))
        if entry is _CONSUMED:
            raise EngineError(
                "Trying to backward an extra time. You are only allowed to backward once on any region computed under "
                "selective activation checkpoint."
            )
        kept[at] = _CONSUMED
        return tree_map(lambda each: each.get_val(self.allow_cache_entry_mutation), entry)


def _is_view(out: Any, args: Any) -> bool:
    """Does a result lie in the memory of an argument? Then it costs nothing, and must stay where it is."""
    given = [x._array for x in tree_leaves(args) if isinstance(x, Tensor)]
    made = [x._array for x in tree_leaves(out) if isinstance(x, Tensor)]
    return any(xp_of(a).may_share_memory(a, b) for a in made for b in given)


def create_selective_checkpoint_contexts(policy_fn_or_list: Any, allow_cache_entry_mutation: bool = False) -> Any:
    """The two contexts for `checkpoint(context_fn=…)`; a list names the operations whose results are kept."""
    if isinstance(policy_fn_or_list, list):
        for op in policy_fn_or_list:
            if not isinstance(op, OpOverload):
                more = (
                    "Please update the OpOverloadPacket to a specific OpOverload. For example, if you have "
                    "`torch.ops.aten.mm`, change it to `torch.ops.aten.mm.default`."
                )
                raise ArgumentValueError(
                    f"Expected op in `op_list` to be an OpOverload but got: {op} of type {type(op)}. "
                    f"{more if isinstance(op, OpOverloadPacket) else ''}"
                )

        def policy(ctx: Any, op: Any, *args: Any, **kwargs: Any) -> CheckpointPolicy:
            return CheckpointPolicy.MUST_SAVE if op in policy_fn_or_list else CheckpointPolicy.PREFER_RECOMPUTE

    elif callable(policy_fn_or_list):
        policy = policy_fn_or_list
    else:
        raise ArgumentTypeError("policy_fn_or_list must be either a function or a list of ops.")
    storage: Any = defaultdict(list)
    return (
        _CachingTorchDispatchMode(policy, storage),
        _CachedTorchDispatchMode(policy, storage, allow_cache_entry_mutation),
    )
