"""Rows: Fourier transforms and windows."""
