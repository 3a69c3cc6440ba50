"""For tests of what is said where there is no GPU."""

import pytest

import clarion

there = clarion.cuda.is_available()
without_gpu = pytest.mark.skipif(there, reason="this machine has a GPU, and the test is of machines without one")
