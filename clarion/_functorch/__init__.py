"""`torch._functorch`: where PyTorch keeps `torch.func`."""

from . import config as config
