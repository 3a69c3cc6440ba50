"""Recorded steps as one native function: kernels in sequence over planned memory.

lowering.py     portable kernels run once more, on arrays that have a place and no values: elementwise steps, reductions, products
groups.py       neighbours that run as one loop
memory.py       buffers, views, and the plan of who lies where and when
program.py      the LLVM function
entry.py        the function as a builtin of Python's, which looks whether it may run and makes the objects that come of it
build.py        all of it in a row; steps that cannot be lowered stay calls of Python in between
"""
