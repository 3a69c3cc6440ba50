"""What loaders are made of; `collate` and `worker` are where PyTorch keeps them.

collate, fetch   samples into batches          crew                   worker processes as the main process sees them
parallel         the iterator with workers     transport, failure     batches and exceptions on their way between them
worker           what a worker process does    pin_memory             batches in page-locked memory
"""

from . import collate as collate
from . import fetch as fetch
from . import pin_memory as pin_memory
from . import worker as worker

MP_STATUS_CHECK_INTERVAL = 5.0  # seconds after which PyTorch looks whether the other process lives
