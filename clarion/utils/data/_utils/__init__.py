"""What loaders are made of; `collate` and `worker` are where PyTorch keeps them.

collate, fetch   samples into batches          crew                   worker processes as the main process sees them
parallel         the iterator with workers     transport, failure     batches and exceptions on their way between them
worker           what a worker process does
"""

from . import collate as collate
from . import worker as worker
