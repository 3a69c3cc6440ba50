"""`torch.utils.data.dataloader`."""

from ...data.collate import default_collate as default_collate
from ...data.collate import default_convert as default_convert
from ...data.loader import DataLoader as DataLoader
from ...data.worker import get_worker_info as get_worker_info
