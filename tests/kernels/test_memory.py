"""Large results use memory again instead of fetching it from the operating system each time."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PROGRAM = """
import resource
import clarion as torch

x = torch.randn(250_000)

def chain():
    y = x
    for _ in range(50):
        y = y * 1.5 + x
    return y

chain()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
chain()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the limits are those of Linux's C library")
@pytest.mark.parametrize(("environment", "few"), [({}, True), ({"MALLOC_TRIM_THRESHOLD_": "131072"}, False)])
def test_a_chain_of_large_results_faults_no_pages(environment, few):
    env = {**os.environ, **environment}
    ran = subprocess.run([sys.executable, "-c", PROGRAM], env=env, capture_output=True, text=True, check=True)
    assert (int(ran.stdout) < 500) is few  # 100 results of 244 pages each; the user's own limits are respected
