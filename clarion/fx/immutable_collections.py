"""`torch.fx.immutable_collections`: the lists and dicts in the arguments of a node. Whoever changes them is told how to."""

from __future__ import annotations

from typing import Any, NoReturn

from ..errors import ArgumentTypeError
from ..pytree import register_pytree_node


def _refuse(self: Any, *args: Any, **kwargs: Any) -> NoReturn:
    raise ArgumentTypeError(
        f"'{type(self).__name__}' object does not support mutation. If you are attempting to modify the kwargs or args of a "
        "torch.fx.Node object,\ninstead create a new copy of it and assign the copy to the node:\n\n"
        "    new_args = ...  # copy and mutate args\n    node.args = new_args"
    )


class immutable_list(list[Any]):
    """A list that stays as it is; `list + list` gives an ordinary one."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self))

    def __reduce__(self) -> Any:
        return immutable_list, (tuple(self),)

    append = clear = extend = insert = pop = remove = reverse = sort = _refuse  # type: ignore[assignment]
    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse  # type: ignore[assignment]


class immutable_dict(dict[Any, Any]):
    """A dict that stays as it is."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> Any:
        return immutable_dict, (dict(self),)

    clear = pop = popitem = setdefault = update = _refuse  # type: ignore[assignment]
    __setitem__ = __delitem__ = __ior__ = _refuse  # type: ignore[assignment]


register_pytree_node(immutable_list, lambda each: (list(each), None), lambda parts, _: immutable_list(parts))
register_pytree_node(
    immutable_dict,
    lambda each: (list(each.values()), list(each)),
    lambda parts, keys: immutable_dict(zip(keys, parts, strict=True)),
)
