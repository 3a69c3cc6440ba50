"""`torch._dynamo.eval_frame`: what a compiled module is an object of."""

from __future__ import annotations

from typing import Any

from ..nn import Module


def is_dynamo_supported() -> bool:
    """Does PyTorch's own compiler work here? `torch.compile` does, without it."""
    return False


class OptimizedModule(Module):
    """A compiled module: the module itself is inside, as `_orig_mod`, and whatever is asked of this one it answers."""

    _orig_mod: Module

    def __init__(self, mod: Module, call: Any) -> None:
        super().__init__()
        self.__dict__["_compiled"] = self.__dict__["dynamo_ctx"] = (
            call  # by the latter libraries know a compiled module
        )
        self._orig_mod = mod
        self.__dict__["training"] = mod.training

    def __getstate__(self) -> dict[str, Any]:
        """What a copy or a file keeps: what was compiled belongs to the module inside, of which a copy is another."""
        state = {name: value for name, value in self.__dict__.items() if name not in ("_compiled", "dynamo_ctx")}
        state["_again"] = self._compiled._again
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        make, *options = state.pop("_again")
        super().__setstate__(state)
        self.__dict__["_compiled"] = self.__dict__["dynamo_ctx"] = make(self._orig_mod, *options)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._compiled(*args, **kwargs)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The same without the hooks of the module inside: they are called where it is called."""
        return self._compiled(*args, **kwargs)

    def train(self, mode: bool = True) -> OptimizedModule:
        self._orig_mod.train(mode)
        self.__dict__["training"] = mode
        return self

    def __getattr__(self, name: str) -> Any:
        if name == "_orig_mod":
            return self.__dict__["_modules"]["_orig_mod"]
        return getattr(self._orig_mod, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "_orig_mod" or "_orig_mod" not in self.__dict__.get("_modules", ()):
            super().__setattr__(name, value)
        else:
            setattr(self._orig_mod, name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self._orig_mod, name)
