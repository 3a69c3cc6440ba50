"""`torch.utils.module_tracker`: which modules are at work, in the forward and in the backward pass."""

from __future__ import annotations

import logging
import weakref
from typing import Any

from ..autograd.graph import register_multi_grad_hook
from ..core import passes
from ..core.tensor import Tensor
from ..nn.modules.hooks import register_module_forward_hook, register_module_forward_pre_hook
from ..pytree import tree_leaves

logger = logging.getLogger(__name__)


class ModuleTracker:
    """Inside its block `parents` holds the names of the modules that run, and "Global".

    A module is entered in the backward pass when the gradients of its outputs are there, and left when those of its inputs are.
    """

    def __init__(self) -> None:
        self.parents = {"Global"}
        self._names: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()
        self._handles: list[Any] = []
        self._will_end = False  # is the end of the backward pass waited for?

    @property
    def is_bw(self) -> bool:
        """Does a backward pass run?"""
        return passes.running.this is not None

    def __enter__(self) -> ModuleTracker:
        self._handles += [register_module_forward_pre_hook(self._before), register_module_forward_hook(self._after)]
        return self

    def __exit__(self, *error: object) -> None:
        for handle in self._handles:
            handle.remove()
        self._handles.clear()

    def _before(self, module: Any, inputs: Any) -> None:
        name = self._name(module)
        self._enter(name, "forward")
        self._when_ready(inputs, lambda: self._leave(name, "backward"))

    def _after(self, module: Any, inputs: Any, output: Any) -> None:
        name = self._name(module)
        self._leave(name, "forward")
        self._when_ready(output, lambda: self._enter(name, "backward"))

    def _when_ready(self, values: Any, act: Any) -> None:
        """Act when the gradients of all tensors among the values have been computed."""
        if tensors := [each for each in tree_leaves(values) if isinstance(each, Tensor) and each.requires_grad]:
            self._handles.append(register_multi_grad_hook(tensors, lambda _: act()))

    def _name(self, module: Any) -> str:
        """Its path below the module that was entered first."""
        if module not in self._names:
            top = type(module).__name__
            for path, each in module.named_modules(remove_duplicate=False):
                self._names[each] = f"{top}.{path}" if path else top
        return self._names[module]

    def _enter(self, name: str, when: str) -> None:
        if when == "backward" and not self._will_end:
            self._will_end = True
            passes.queue_callback(self._end)
        if name in self.parents:
            logger.info(
                "The module hierarchy tracking seems to be broken as this Module was already entered. %s during %s",
                name,
                when,
            )
        self.parents.add(name)

    def _leave(self, name: str, when: str) -> None:
        if name not in self.parents:
            logger.info(
                "The Module hierarchy tracking is confused as we're exiting a Module that was never entered. %s during %s",
                name,
                when,
            )
        self.parents.discard(name)

    def _end(self) -> None:
        """The backward pass is over: what had no inputs that require a gradient is left now."""
        self.parents, self._will_end = {"Global"}, False
