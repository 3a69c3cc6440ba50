"""`torch.utils.weak`: tables whose keys are compared by identity and go with the last other reference to them."""

from __future__ import annotations

import collections.abc
import copy
import weakref
from collections.abc import Iterator
from typing import Any

WeakRef = weakref.ref


class WeakIdRef(weakref.ref[Any]):
    """A weak reference that is compared by the identity of what it refers to."""

    __slots__ = ("_id",)

    def __init__(self, key: Any, callback: Any = None) -> None:
        super().__init__(key, callback)
        self._id = id(key)

    def __hash__(self) -> int:
        return self._id

    def __eq__(self, other: object) -> bool:
        mine, theirs = self(), other() if isinstance(other, weakref.ref) else None
        return mine is theirs if mine is not None and theirs is not None else self is other


class WeakIdKeyDictionary(collections.abc.MutableMapping[Any, Any]):
    """A dictionary by the identity of its keys, which it does not keep alive."""

    def __init__(self, dict: Any = None, ref_type: Any = WeakIdRef) -> None:
        self.data: Any = {}
        self.ref_type = ref_type
        self._gone = lambda ref, data=self.data: data.pop(ref, None)
        if dict is not None:
            self.update(dict)

    def update(self, dict: Any = None, **kwargs: Any) -> None:  # type: ignore[override]
        """Take what another table holds, or what can be made a table of; that is done before anything is taken."""
        if dict is not None:
            for key, value in (dict if hasattr(dict, "items") else type({})(dict)).items():
                self[key] = value
        if kwargs:
            self.update(kwargs)

    def _live(self) -> list[tuple[Any, Any]]:
        return [(key, value) for ref, value in list(self.data.items()) if (key := ref()) is not None]

    def __getitem__(self, key: Any) -> Any:
        return self.data[self.ref_type(key)]

    def __setitem__(self, key: Any, value: Any) -> None:
        self.data[self.ref_type(key, self._gone)] = value

    def __delitem__(self, key: Any) -> None:
        del self.data[self.ref_type(key)]

    def __contains__(self, key: object) -> bool:
        return self.ref_type(key) in self.data

    def __iter__(self) -> Iterator[Any]:
        return iter([key for key, _ in self._live()])

    def __len__(self) -> int:
        return len(self._live())

    def __repr__(self) -> str:
        return f"<{type(self).__name__} at {id(self):#x}>"

    def __or__(self, other: Any) -> WeakIdKeyDictionary:
        if not isinstance(other, collections.abc.Mapping):
            return NotImplemented
        made = self.copy()
        made.update(other)
        return made

    def __ror__(self, other: Any) -> WeakIdKeyDictionary:
        if not isinstance(other, collections.abc.Mapping):
            return NotImplemented
        made = type(self)(other, self.ref_type)
        made.update(self)
        return made

    def __ior__(self, other: Any) -> WeakIdKeyDictionary:
        self.update(other)
        return self

    def __deepcopy__(self, memo: Any) -> WeakIdKeyDictionary:
        made = type(self)(None, self.ref_type)
        for key, value in self._live():
            made[key] = copy.deepcopy(value, memo)
        return made

    def copy(self) -> WeakIdKeyDictionary:
        """Another table with the same keys and values."""
        made = type(self)(None, self.ref_type)
        for key, value in self._live():
            made[key] = value
        return made


WeakTensorKeyDictionary = WeakIdKeyDictionary


class TensorWeakRef:
    """A weak reference to a tensor."""

    def __init__(self, tensor: Any) -> None:
        self.ref = weakref.ref(tensor)

    def __call__(self) -> Any:
        return self.ref()
