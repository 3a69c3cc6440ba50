"""`torch.utils.data._utils.worker`."""

from ....data.worker import WorkerInfo as WorkerInfo
from ....data.worker import get_worker_info as get_worker_info
