"""Random numbers, number for number PyTorch's."""
