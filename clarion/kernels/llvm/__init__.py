"""Kernels compiled for the processor through LLVM (llvmlite), from the portable source.

    offers.py       which kernels are compiled, from how many elements on
    kernel.py       a kernel that is compiled when it first meets types and parameters
    build.py        from a program (`kernels/trace`) to a function that NumPy calls
    lower.py rows.py mathematics.py text.py     the program as LLVM's instructions
    runtime.py pool.py ufuncs.py                the loops around it, threads, NumPy's side
    machine.py      the processor, the compiler, and the objects that are kept on disk

Nothing is loaded or compiled before an operation meets an array that is large enough.
"""

from . import offers as offers
