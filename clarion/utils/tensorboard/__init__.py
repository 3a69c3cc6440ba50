"""`torch.utils.tensorboard`: event files for TensorBoard. Without its package, importing this fails as PyTorch's does."""

import tensorboard as _tensorboard  # noqa: F401

from .writer import FileWriter as FileWriter
from .writer import SummaryWriter as SummaryWriter
