"""`torch._dynamo.config`: settings that nobody looks at."""

import sys

from .settings import Settings

sys.modules[__name__].__class__ = Settings
suppress_errors = False
cache_size_limit = recompile_limit = 8
capture_scalar_outputs = capture_dynamic_output_shape_ops = False
inline_inbuilt_nn_modules = True
