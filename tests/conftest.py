"""Settings for all tests."""

import importlib
import os
import sys

# One thread per process: the workers of pytest-xdist share the machine. Read when NumPy is first imported.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

# Tests do on purpose what diagnoses are there to name; tests/diagnose turns them on where they are meant.
os.environ.setdefault("CLARION_DIAGNOSE", "off")

# Where clarion is installed, its plugin of pytest has read the environment before.
if "clarion.config" in sys.modules:
    importlib.reload(sys.modules["clarion.config"])

try:
    from hypothesis import HealthCheck, settings
except ImportError:  # only the comparison with PyTorch is installed
    pass
else:
    # The same examples in every run, without a time limit on each: a slow machine is no failure.
    settings.register_profile(
        "clarion",
        derandomize=True,
        database=None,
        deadline=None,
        max_examples=60,
        suppress_health_check=[HealthCheck.too_slow],
    )
    settings.load_profile("clarion")
