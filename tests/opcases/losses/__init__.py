"""Rows: what training minimises, element by element or of classes."""
