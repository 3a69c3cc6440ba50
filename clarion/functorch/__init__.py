"""`functorch`: the older name of `torch.func`, with its older ways to call modules."""

from .._functorch.make_functional import FunctionalModule as FunctionalModule
from .._functorch.make_functional import FunctionalModuleWithBuffers as FunctionalModuleWithBuffers
from .._functorch.make_functional import combine_state_for_ensemble as combine_state_for_ensemble
from .._functorch.make_functional import make_functional as make_functional
from .._functorch.make_functional import make_functional_with_buffers as make_functional_with_buffers
from ..absent import refusal
from ..func import functional_call as functional_call
from ..func import functionalize as functionalize
from ..func import grad as grad
from ..func import grad_and_value as grad_and_value
from ..func import hessian as hessian
from ..func import jacfwd as jacfwd
from ..func import jacrev as jacrev
from ..func import jvp as jvp
from ..func import vjp as vjp
from ..func import vmap as vmap

make_fx = refusal("functorch.make_fx")
