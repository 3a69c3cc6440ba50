"""Portable kernels and gradient rules as expressions: what they compute, without computing it.

`tracer.trace(function, arguments)` calls a function with symbols instead of arrays (`symbols.py`) and gives back a `Program`
(`graph.py`): terms, inputs and results, which know nothing of the machine that will run them. Backends lower programs.
"""
