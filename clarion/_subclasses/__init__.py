"""`torch._subclasses`: tensors that stand for others while code is compiled; there are none."""
