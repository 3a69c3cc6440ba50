"""`torch.optim.lr_scheduler`: learning rates that change from step to step."""

from .schedules.base import EPOCH_IS_DEPRECATED as EPOCH_DEPRECATION_WARNING  # noqa: F401  (under its name there)
from .schedules.base import LRScheduler as LRScheduler
from .schedules.base import _LRScheduler as _LRScheduler
from .schedules.combined import ChainedScheduler as ChainedScheduler
from .schedules.combined import SequentialLR as SequentialLR
from .schedules.cosine import CosineAnnealingLR as CosineAnnealingLR
from .schedules.cosine import CosineAnnealingWarmRestarts as CosineAnnealingWarmRestarts
from .schedules.cyclic import CyclicLR as CyclicLR
from .schedules.factors import ConstantLR as ConstantLR
from .schedules.factors import ExponentialLR as ExponentialLR
from .schedules.factors import LambdaLR as LambdaLR
from .schedules.factors import LinearLR as LinearLR
from .schedules.factors import MultiplicativeLR as MultiplicativeLR
from .schedules.factors import MultiStepLR as MultiStepLR
from .schedules.factors import PolynomialLR as PolynomialLR
from .schedules.factors import StepLR as StepLR
from .schedules.one_cycle import OneCycleLR as OneCycleLR
from .schedules.plateau import ReduceLROnPlateau as ReduceLROnPlateau

__all__ = [
    "ChainedScheduler",
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "MultiplicativeLR",
    "OneCycleLR",
    "PolynomialLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
]
