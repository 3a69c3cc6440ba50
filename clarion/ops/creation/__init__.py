"""Tensors out of nothing, out of data and back into Python; what a tensor says of itself; the memory behind it."""
