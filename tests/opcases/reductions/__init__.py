"""Rows: Sums, extremes, statistics, norms, running sums: many elements into few."""
