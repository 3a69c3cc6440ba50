"""`torch._subclasses.functional_tensor`: tensors whose writes are turned into copies, for compilers; there are none."""

from ..absent import refusing_class

FunctionalTensor = refusing_class("torch._subclasses.FunctionalTensor")
