"""Kernels compiled for the processor through LLVM (llvmlite), from the portable source.

    offers.py       which kernels are compiled, from how many elements on
    kernel.py       a kernel that is compiled when it first meets types and parameters
    build.py        from a program (`kernels/trace`) to a function that NumPy calls
    lower.py rows.py mathematics.py text.py     the program as LLVM's instructions
    runtime.py plan.py pool.py ufuncs.py        the loops around it, threads, NumPy's side
    direct.py reading.py holding.py api.py cards.py     kernels as builtin functions of Python: NOTE [Direct calls]
    choices.py losses.py groups.py      kernels around such programs
    layouts.py views.py writes.py joins.py  arrays and tensors seen otherwise; tensors written to, drawn and joined
    small_offers.py small_arguments.py small_lines.py small_pairs.py small_extremes.py small_frames.py small_windows.py small_moves.py small_sorts.py small_draws.py     small arrays by their numbers, joined, masked, sorted, drawn: builtins alone
    small_products.py taking.py products/ attention/ convolutions/ channels.py tables.py halves.py orthogonal.py normals.py columns.py fourier.py
    updates.py lines.py turning.py      what is no expression of elements or rows
    machine.py kept.py objects.py   the processor, the compiler, objects on disk, and how they are loaded

Nothing is compiled at import. What is on disk is loaded without the compiler.
"""

from . import offers as offers
