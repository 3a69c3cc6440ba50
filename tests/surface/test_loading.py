"""The engine is loaded when the first name is asked for: by one thread, while the others wait."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import threading
import clarion as torch

found = []
start = threading.Barrier(4)

def use(k):
    start.wait()
    found.append(float((torch.ones(3) * k).sum()))

threads = [threading.Thread(target=use, args=(k,)) for k in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join(60)
assert sorted(found) == [0.0, 3.0, 6.0, 9.0], found
"""


def test_threads_may_ask_at_once():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
