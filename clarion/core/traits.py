"""What operations are, in words that anybody may ask for: `Op(…, traits="product layer")`.

A trait says what an operation *is*, never who asks: a new operation that declares its traits is known at once to
everything that asks for them (diagnoses, above all).
"""

from __future__ import annotations

TRAITS = {
    # What it does with the elements it is given.
    "rearranges": "its elements are those of its inputs, in another place, number or type",
    "reshapes": "the same elements in another shape, order of dimensions, or type",
    "joins": "puts several inputs together",
    "selects": "leaves a part of its input out, whatever that is",
    "clamps": "the larger or the smaller of its input and a bound",
    # Arithmetic.
    "arithmetic": "made of + - * / on elements",
    "adds": "adds or subtracts its inputs as they are",
    "difference": "subtracts one input from the other",
    "multiplies": "multiplies elements with each other, one by one",
    "quotient": "divides by its last input",
    "power": "raises to a power",
    "root": "takes a square root",
    "log": "takes the logarithm of its last input",
    "exponential": "raises a number to the power of its input",
    "size": "says how large its input is, element by element",
    "arc": "is defined between two numbers only: the inverse of a sine, a cosine, …",
    "angle": "an angle of a point, which the origin has not",
    # How it is differentiated.
    "fused": "its gradients are computed in one piece: to autograd each depends on every input",
    # Reductions.
    "total": "adds up or averages",
    "mean": "averages: not defined of nothing",
    "extreme": "the largest or the smallest element",
    "deviation": "how far the elements lie apart: not defined of one alone",
    "norm": "the length of a vector",
    "softmax": "exponentials divided by their sum",
    # Layers and what stands between them.
    "product": "sums of products of two inputs: matrix products, convolutions",
    "accumulates": "adds a product to its first input",
    "layer": "the first input is what it is applied to, the others are its parameters",
    "convolution": "a product whose units are channels",
    "attention": "attends to values by queries and keys",
    "recurrent": "a whole recurrent layer",
    "normalizes": "centers or scales by statistics of its input",
    "pools": "one value for each window",
    "activation": "a nonlinear function between layers",
    "rectifier": "an activation that is zero, or nearly so, on one side",
    "loss": "compares predictions with targets",
}


def known_traits(name: str, traits: str) -> frozenset[str]:
    """The traits that an operation declares, which must be on the list above."""
    found = frozenset(traits.split())
    unknown = found - TRAITS.keys()
    if unknown:
        raise ValueError(f"{name}: no such trait: {', '.join(sorted(unknown))} (see TRAITS in core/traits.py)")
    return found
