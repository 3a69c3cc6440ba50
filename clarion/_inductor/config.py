"""`torch._inductor.config`: settings that nobody looks at."""

import sys

from .._dynamo.settings import Settings

sys.modules[__name__].__class__ = Settings
conv_1x1_as_mm = coordinate_descent_tuning = epilogue_fusion = max_autotune = False
