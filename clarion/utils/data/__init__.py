"""`torch.utils.data`."""

from ...data.collate import default_collate as default_collate
from ...data.collate import default_convert as default_convert
from ...data.dataset import ChainDataset as ChainDataset
from ...data.dataset import ConcatDataset as ConcatDataset
from ...data.dataset import Dataset as Dataset
from ...data.dataset import IterableDataset as IterableDataset
from ...data.dataset import StackDataset as StackDataset
from ...data.dataset import Subset as Subset
from ...data.dataset import TensorDataset as TensorDataset
from ...data.distributed import DistributedSampler as DistributedSampler
from ...data.loader import DataLoader as DataLoader
from ...data.sampler import BatchSampler as BatchSampler
from ...data.sampler import RandomSampler as RandomSampler
from ...data.sampler import Sampler as Sampler
from ...data.sampler import SequentialSampler as SequentialSampler
from ...data.sampler import SubsetRandomSampler as SubsetRandomSampler
from ...data.sampler import WeightedRandomSampler as WeightedRandomSampler
from ...data.split import random_split as random_split
from ...data.worker import get_worker_info as get_worker_info
from . import _utils as _utils
from . import dataloader as dataloader
from . import dataset as dataset
from . import distributed as distributed
from . import sampler as sampler


def __getattr__(name: str) -> object:
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    raise AttributeError(f"clarion does not have torch.utils.data.{name} yet")
