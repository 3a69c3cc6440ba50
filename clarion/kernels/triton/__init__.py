"""Kernels for NVIDIA GPUs, compiled by Triton and launched through CuPy: no PyTorch is imported.

`build` compiles and launches; the other files hold the kernels. Nothing here is imported before a tensor is on a GPU.
"""
