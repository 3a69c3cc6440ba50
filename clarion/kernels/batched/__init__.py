"""Arrays of a batch that nobody sees: `vmap` gives a function one sample's shape and all samples' values.

`array` is the type (a sample's shape over data with one dimension more), `namespace` the array library (`xp`) that portable
kernels run on, `rules` say for each kernel how it is run on all samples at once; what has no rule is run sample by sample.
"""
