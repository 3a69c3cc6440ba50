"""`torch._dynamo.external_utils`: what code asks that may be compiled."""

from ..compiler import is_compiling as is_compiling
