"""`torch.utils.data`."""

import importlib

from . import _utils as _utils
from . import dataloader as dataloader
from . import dataset as dataset
from . import distributed as distributed
from . import sampler as sampler
from ._utils.collate import default_collate as default_collate
from ._utils.collate import default_convert as default_convert
from ._utils.worker import get_worker_info as get_worker_info
from .dataloader import DataLoader as DataLoader
from .dataset import ChainDataset as ChainDataset
from .dataset import ConcatDataset as ConcatDataset
from .dataset import Dataset as Dataset
from .dataset import IterableDataset as IterableDataset
from .dataset import StackDataset as StackDataset
from .dataset import Subset as Subset
from .dataset import TensorDataset as TensorDataset
from .dataset import random_split as random_split
from .distributed import DistributedSampler as DistributedSampler
from .sampler import BatchSampler as BatchSampler
from .sampler import RandomSampler as RandomSampler
from .sampler import Sampler as Sampler
from .sampler import SequentialSampler as SequentialSampler
from .sampler import SubsetRandomSampler as SubsetRandomSampler
from .sampler import WeightedRandomSampler as WeightedRandomSampler

__all__ = [
    "BatchSampler", "ChainDataset", "ConcatDataset", "DFIterDataPipe", "DataChunk", "DataLoader", "Dataset",
    "DistributedSampler", "IterDataPipe", "IterableDataset", "MapDataPipe", "RandomSampler", "Sampler",
    "SequentialSampler", "StackDataset", "Subset", "SubsetRandomSampler", "TensorDataset", "WeightedRandomSampler",
    "argument_validation", "default_collate", "default_convert", "functional_datapipe", "get_worker_info",
    "guaranteed_datapipes_determinism", "non_deterministic", "random_split", "runtime_validation",
    "runtime_validation_disabled",
]  # fmt: skip

# Pipes are loaded when somebody asks for them.
_OF_PIPES = {
    ".datapipes.datapipe": "DFIterDataPipe DataChunk IterDataPipe MapDataPipe",
    ".datapipes._decorator": "argument_validation functional_datapipe guaranteed_datapipes_determinism non_deterministic "
    "runtime_validation runtime_validation_disabled",
}


def __getattr__(name: str) -> object:
    for module, names in _OF_PIPES.items():
        if name in names.split():
            return getattr(importlib.import_module(module, __name__), name)
    if name in ("datapipes", "graph", "graph_settings"):
        return importlib.import_module(f".{name}", __name__)
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    raise AttributeError(f"clarion does not have torch.utils.data.{name} yet")
