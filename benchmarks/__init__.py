"""Workloads that run on clarion and on PyTorch alternately in one process; what counts is the ratio."""
