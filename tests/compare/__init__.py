"""Comparisons of clarion with PyTorch itself.

Everything in this package needs PyTorch; nothing in clarion does.  The
"compare" extra must install: torch (2.13), expecttest (imported by PyTorch's
operator database), scipy (some samples need it), pytest and pytest-xdist.
"""
