"""`torch._functorch.deprecated`: older names of `torch.func`."""

from ..func import functional_call as functional_call
from ..func import functionalize as functionalize
from ..func import grad as grad
from ..func import jacfwd as jacfwd
from ..func import jacrev as jacrev
from ..func import vmap as vmap
from .make_functional import combine_state_for_ensemble as combine_state_for_ensemble
from .make_functional import make_functional as make_functional
from .make_functional import make_functional_with_buffers as make_functional_with_buffers
