"""Tests may ask about graphs without a session: clarion's own engine answers."""

from clarion import diagnose

diagnose._use_own_engine()
