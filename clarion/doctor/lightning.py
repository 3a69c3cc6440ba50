"""For Lightning: `Trainer(callbacks=[LightningCallback()])`. Calling `clarion.doctor.watch()` before `fit` does the same."""

from __future__ import annotations

from typing import Any

from . import Watch, watch

try:
    from lightning.pytorch import Callback
except ImportError:
    from pytorch_lightning import Callback


class LightningCallback(Callback):  # type: ignore[misc]
    """Watches `fit`; what was found is told as it is found, and stays in `findings`."""

    def __init__(self, **options: Any) -> None:
        self._options = options
        self._watch: Watch | None = None
        self.findings: list[Any] = []

    def setup(self, trainer: Any, pl_module: Any, stage: str) -> None:
        """Before the optimizers are made."""
        if stage == "fit" and self._watch is None:
            self._watch = watch(**self._options)

    def teardown(self, trainer: Any, pl_module: Any, stage: str) -> None:
        """After the last step, also when it failed."""
        if self._watch is not None:
            this, self._watch = self._watch, None
            this.stop()
            self.findings += this.findings
