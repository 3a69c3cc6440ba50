"""Arrays without memory: shape, strides and type of everything that can be computed, and no values.

`array` is the type, `namespace` the array library (`xp`) that portable kernels run on: they are the rules of shapes
and types, so an operation needs none of its own. `rules` holds the few that do: those that draw random numbers, call
SciPy, or look at values only to choose a way.
"""
