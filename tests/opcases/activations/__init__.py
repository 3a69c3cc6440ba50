"""Rows: Activation functions and softmax."""
