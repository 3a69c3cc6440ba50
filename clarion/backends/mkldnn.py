"""`torch.backends.mkldnn`: oneDNN under PyTorch's name. Where clarion uses it, `clarion info` says so."""

from __future__ import annotations

from ..absent import rest
from .switches import Precision, no, switches

enabled, deterministic, allow_tf32, fp32_precision = True, False, True, "none"
matmul, conv, rnn = Precision(), Precision(), Precision()
set_flags, flags = switches(__name__, enabled=False, deterministic=False, allow_tf32=True, fp32_precision="none")
is_available = is_acl_available = no
__getattr__ = rest(__name__)
