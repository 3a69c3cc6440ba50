"""`functorch`: the older name of `torch.func`."""

from .absent import refusing_class
from .func import functional_call as functional_call
from .func import grad as grad
from .func import grad_and_value as grad_and_value
from .func import hessian as hessian
from .func import jacfwd as jacfwd
from .func import jacrev as jacrev
from .func import jvp as jvp
from .func import stack_module_state as combine_state_for_ensemble  # noqa: F401
from .func import vjp as vjp
from .func import vmap as vmap

FunctionalModule = refusing_class("functorch.FunctionalModule")
FunctionalModuleWithBuffers = refusing_class("functorch.FunctionalModuleWithBuffers")
