"""For the Hugging Face Trainer: `Trainer(…, callbacks=[TrainerCallback()])`. `clarion.doctor.watch()` before it does the same."""

from __future__ import annotations

from typing import Any

from transformers import TrainerCallback as _TrainerCallback

from . import Watch, watch


class TrainerCallback(_TrainerCallback):  # type: ignore[misc]
    """Watches `train`; what was found is told as it is found, and stays in `findings`."""

    def __init__(self, **options: Any) -> None:
        self._options = options
        self._watch: Watch | None = None
        self.findings: list[Any] = []

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """The model and its optimizer are there by now."""
        self._watch = watch(**self._options)

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """After the last step."""
        if self._watch is not None:
            this, self._watch = self._watch, None
            this.stop()
            self.findings += this.findings
