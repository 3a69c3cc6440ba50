"""Forward rules of the operations met most often: cheaper than what forward.py finds for itself. Loaded by forward_ad.

Elementwise operations and views need none.
"""

from __future__ import annotations

from typing import Any

from ..core.namespace import OPS
