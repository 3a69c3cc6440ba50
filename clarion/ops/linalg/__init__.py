"""Decompositions, inverses, systems and functions of matrices."""
