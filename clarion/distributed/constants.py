"""`torch.distributed.constants`."""

from .distributed_c10d import default_pg_timeout as default_pg_timeout
