"""Convolutions of float32 and float64, compiled for the processor, on the same threads as all other loops.

    slabs.py        images inside of zeros, where every tap of the kernel is a shift
    taps.py         tiles and panels whose second operand is found through those shifts
    drivers.py      from images to results, and to the weight's gradient
    direct.py       the same where a tile's columns are channels
    by_channel.py   the weight's gradient from images whose channels lie together, and weights.py how that is shared out
    depthwise.py    depthwise ones where rows are short, or channels lie together
    single.py       the weight's gradient of depthwise ones
    whole.py        kernels as long as the image
    few.py          few pixels beside many weights (few_text.py: its loops)
    calls.py        geometry, and what is offered

A *slab* holds the rows of an image that a block of results is made of, inside of the zeros that surround it. Laid out as one
long row, what a tap meets there is that row from some offset on: a convolution is a matrix product whose second operand is
never written down. The price is to compute the few results that lie across the ends of rows. With a stride the image is first
taken apart into those that a tap can meet: every second column, say, and the columns between.
"""
