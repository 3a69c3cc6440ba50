"""What is written down while a program runs: the ledger and what stands beside it."""
