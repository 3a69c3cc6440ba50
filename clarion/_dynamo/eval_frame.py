"""`torch._dynamo.eval_frame`: what a compiled module is an object of; there are none."""

from __future__ import annotations

from ..nn import Module


class OptimizedModule(Module):
    """A compiled module: `torch.compile` gives the module itself here, so none is an object of this class."""

    _orig_mod: Module
