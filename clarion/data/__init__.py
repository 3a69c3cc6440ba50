"""Datasets, samplers and loaders; `clarion.utils.data` re-exports them under PyTorch's names.

dataset, split   what there is to load         sampler, distributed   in which order
collate, fetch   samples into batches          loader                 DataLoader, and what both kinds of iterators share
parallel         the iterator with workers     crew                   worker processes as the main process sees them
worker           what a worker process does    transport, failure     batches and exceptions on their way between them
"""
