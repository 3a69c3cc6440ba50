"""`torch.nn.attention.flex_attention`: refused by name."""

from ...absent import rest

_DEFAULT_SPARSE_BLOCK_SIZE = 128

__getattr__ = rest(__name__)
