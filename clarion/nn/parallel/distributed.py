"""`DistributedDataParallel` in a group of one process: the module itself under another name."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from ...absent import rest
from ...errors import EngineError
from ..modules.module import Module


class DistributedDataParallel(Module):
    """Calls `module`. With one process there are no gradients of others to wait for.

    As in PyTorch a group has to be there before (`torch.distributed.init_process_group`), and the module must have a
    parameter that requires a gradient.
    """

    def __init__(
        self,
        module: Module,
        device_ids: Any = None,
        output_device: Any = None,
        dim: int = 0,
        broadcast_buffers: bool = True,
        init_sync: bool = True,
        process_group: Any = None,
        **options: Any,
    ) -> None:
        super().__init__()
        from ...distributed import distributed_c10d

        if not any(parameter.requires_grad for parameter in module.parameters()):
            raise EngineError(
                "DistributedDataParallel is not needed when a module doesn't have any parameter that requires a gradient."
            )
        self.process_group = distributed_c10d._get_default_group() if process_group is None else process_group
        self.module = module
        self.device_ids: Any = None
        self.output_device: Any = None
        self.dim = dim
        self.device = next(module.parameters()).device
        self.broadcast_buffers = broadcast_buffers
        self.find_unused_parameters = options.get("find_unused_parameters", False)
        self.static_graph = options.get("static_graph", False)
        self.gradient_as_bucket_view = options.get("gradient_as_bucket_view", False)
        self.require_backward_grad_sync = True
        self.require_forward_param_sync = True
        self.parameters_to_ignore: set[str] = set(getattr(module, "_ddp_params_and_buffers_to_ignore", ()))

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """What the module gives."""
        return self.module(*inputs, **kwargs)

    @contextlib.contextmanager
    def no_sync(self) -> Iterator[None]:
        """Gradients stay in the process: with one process they always do."""
        before, self.require_backward_grad_sync = self.require_backward_grad_sync, False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before

    @contextlib.contextmanager
    def join(
        self, divide_by_initial_world_size: bool = True, enable: bool = True, throw_on_early_termination: bool = False
    ) -> Iterator[None]:
        """Processes with fewer batches wait for the others: there are none."""
        yield

    def register_comm_hook(self, state: object, hook: Any) -> None:
        """How gradients would be exchanged: they are not."""
        if not callable(hook):
            raise TypeError("Communication hook must be callable.")


__getattr__ = rest(__name__)
