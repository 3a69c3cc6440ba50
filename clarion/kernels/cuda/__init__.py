"""What only NVIDIA's libraries do best: matrix products by cuBLASLt, convolutions by cuDNN. Arrays are CuPy's.

Nothing here is imported before a tensor is on a GPU.
"""
