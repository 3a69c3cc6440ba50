"""The engines that can be diagnosed: see `diagnose/engine.py` for what they are asked."""
