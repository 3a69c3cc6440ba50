"""`torch.autograd.grad_mode`: the switches that decide what is recorded."""

from ..core.modes import enable_grad as enable_grad
from ..core.modes import inference_mode as inference_mode
from ..core.modes import no_grad as no_grad
from ..core.modes import set_grad_enabled as set_grad_enabled
