"""`torch.testing._internal`: what libraries' own tests import of PyTorch's."""
