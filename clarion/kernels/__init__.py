"""Kernels: raw arrays only, no Tensor and no gradient."""
