"""Functions of each element: arithmetic, comparisons, powers, special functions, casts, choices."""
