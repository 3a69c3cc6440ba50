"""`torch.version`."""

__version__ = "0.1.0"
debug = False
cuda: str | None = None
hip: str | None = None
xpu: str | None = None
git_version: str | None = None
