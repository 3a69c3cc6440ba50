"""`torch._functorch.config`: settings that nobody looks at."""

import sys

from .._dynamo.settings import Settings

sys.modules[__name__].__class__ = Settings
donated_buffer = False
