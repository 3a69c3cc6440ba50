"""Indexing with `x[...]`: views for integers and slices, copies for index tensors and masks."""
