"""Dropout where nothing is drawn."""

from __future__ import annotations

import numpy as np

from ..row import Row

ROWS = [
    Row("dropout", lambda t, x: t.nn.functional.dropout(x, 1.0), ((3, 4),), np.zeros_like),
    Row("dropout", lambda t, x: t.nn.functional.dropout(x, 0.0), ((3, 4),), lambda x: x, label="none"),
]
