"""What of PyTorch is there: the list of its public names, and the page docs/coverage.md."""
