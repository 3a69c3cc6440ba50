"""`functorch`: the older name of `torch.func`, with its older ways to call modules. Each says where it is to be found now."""

from .._functorch.deprecated import combine_state_for_ensemble as combine_state_for_ensemble
from .._functorch.deprecated import functional_call as functional_call
from .._functorch.deprecated import functionalize as functionalize
from .._functorch.deprecated import grad as grad
from .._functorch.deprecated import grad_and_value as grad_and_value
from .._functorch.deprecated import hessian as hessian
from .._functorch.deprecated import jacfwd as jacfwd
from .._functorch.deprecated import jacrev as jacrev
from .._functorch.deprecated import jvp as jvp
from .._functorch.deprecated import make_functional as make_functional
from .._functorch.deprecated import make_functional_with_buffers as make_functional_with_buffers
from .._functorch.deprecated import vjp as vjp
from .._functorch.deprecated import vmap as vmap
from .._functorch.make_functional import FunctionalModule as FunctionalModule
from .._functorch.make_functional import FunctionalModuleWithBuffers as FunctionalModuleWithBuffers
from ..absent import refusal

make_fx = refusal("functorch.make_fx")
