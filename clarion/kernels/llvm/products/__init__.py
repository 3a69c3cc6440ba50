"""Matrix products of float32 and float64, compiled for the processor: as fast as the best BLAS, on the same threads as all other loops.

    tiles.py        the innermost part: a tile of the result in registers, panels of the operands
    blocks.py       caches, threads, batches, NumPy's loop
    packed.py       few rows, many times with one matrix
    few_rows.py     few rows beside the transpose of a matrix
    calls.py        the functions that NumPy calls, and what is offered

Why not BLAS: its threads look for work for milliseconds after every product, and keep the processors from the loops in between;
transposes, a bias and batches of small matrices cost it extra passes.
"""
