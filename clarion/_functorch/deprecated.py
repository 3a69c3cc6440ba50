"""`torch._functorch.deprecated`: older names of `torch.func`."""

from ..absent import refusal
from ..func import functional_call as functional_call
from ..func import grad as grad
from ..func import jacfwd as jacfwd
from ..func import jacrev as jacrev
from ..func import stack_module_state as combine_state_for_ensemble  # noqa: F401
from ..func import vmap as vmap

functionalize = refusal("torch._C.functionalize")
make_functional = refusal("torch._C.make_functional")
make_functional_with_buffers = refusal("torch._C.make_functional_with_buffers")
