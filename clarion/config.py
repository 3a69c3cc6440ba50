"""The one place that reads the environment."""

from __future__ import annotations

import os

# Every node carries the user's file and line. CLARION_PROVENANCE=0 turns that off.
PROVENANCE: bool = os.environ.get("CLARION_PROVENANCE", "1") != "0"
