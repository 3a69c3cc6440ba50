"""Products and convolutions by oneDNN, the library that PyTorch itself uses for convolutions on the CPU.

    products.py         matrix products, and batches of them
    convolutions.py     convolutions and their gradients
    primitives.py       what oneDNN makes for given shapes, kept and run again
    library.py          the C interface, threads, fork

Nothing is loaded before a product or a convolution is large enough. Without the package (`pip install clarion[fast]`)
there are no offers, and NumPy computes.
"""

from ..registry import describe
from .library import missing

describe("onednn", "matrix products and convolutions by oneDNN", missing)

if missing() is None:
    from . import convolutions as convolutions
    from . import products as products
