"""Attention of float32 and float64, compiled for the processor: a head's scores, their softmax and its products stay in the cache.

    rows.py         a row of scores becomes probabilities, a row of their gradients those of the scores
    heads.py        a head, forward and backward: products, and rows between them; some heads are a thread's chunk
    calls.py        strides, masks, and what is offered

As many queries at a time are worked on as have scores that fit the cache: all N x N of them are held only where the
operation keeps them for the backward pass.
"""
