"""recording-off"""

from __future__ import annotations

from typing import Any

from ..books.switches import Switch
from ..finding import ERROR
from ..rule import Diagnosis
from ..source.places import here, text


class RecordingOff(Diagnosis):
    """backward() on a value that was computed while recording was off.

    Inside `torch.no_grad()`, `torch.inference_mode()` or after `torch.set_grad_enabled(False)` operations leave no
    history, whatever their inputs: there is nothing to differentiate. The error appears at `backward()`; the reason is the
    line that switched recording off.

    Broken:

        with torch.no_grad():
            features = backbone(x)
            loss = criterion(head(features), y)
        loss.backward()

    Fixed:

        with torch.no_grad():
            features = backbone(x)
        loss = criterion(head(features), y)
        loss.backward()

    Evaluation that needs a gradient (an adversarial attack, a closure) switches it on for itself: `with
    torch.enable_grad():`. Tensors made in `inference_mode` can never be part of a graph: use `no_grad` for features that are
    trained on, or `clone()` them. Values that lost their history in another way (`detach()`, `item()`, `argmax`) are not
    meant here.
    """

    name = "recording-off"
    level = ERROR
    why = "no history was kept for it, so there is nothing that backward() could walk."

    def on_refused(self, error: Any, facts: dict[str, Any]) -> None:
        """A root without history, or an inference tensor in a recorded operation."""
        if "without_history" in facts:
            root = facts["without_history"]
            found = self.ledger.unrecorded.blame(root)
            if found is not None and not self._is_leaked(found[0]):
                self._report_root(*found, self.ledger.unrecorded.first_of(root), error)
        elif "inference" in facts:
            found = self.ledger.unrecorded.blame(facts["inference"])
            if found is not None and not self._is_leaked(found[0]):
                self._report_inference(*found, error)

    def _is_leaked(self, switch: Switch) -> bool:
        """Then it is another diagnosis: grad-mode-leaked."""
        return switch in self.ledger.switches.stack and switch.is_leaked(self.ledger.passes)

    def _report_root(self, switch: Switch, computed: Any, first: Any, error: Any) -> None:
        at = f" at {text(computed)}" if computed is not None else ""
        if first is not None and text(first) != text(computed):
            at += f" (and what it is made of from {text(first)} on)"
        self.report(
            switch.where,
            f"`{switch}` at {text(switch.where)} switched recording off, the value that backward() is called on was "
            f"computed{at} without it, and {text(here())} wants its gradient.",
            fix=_remedy(switch, in_force=switch in self.ledger.switches.stack),
            also=[computed, first],
            error=error,
        )

    def _report_inference(self, switch: Switch, computed: Any, error: Any) -> None:
        self.report(
            switch.where,
            f"A tensor that was computed at {text(computed)} under `{switch}` ({text(switch.where)}) takes part in a "
            f"recorded operation at {text(here())}.",
            why="inference tensors have no version counter: backward() could not tell whether they were overwritten.",
            fix="`with torch.no_grad():` there instead, or `x = x.clone()` outside of the block before it is used.",
            also=[here(), computed],
            error=error,
        )


def _remedy(switch: Switch, in_force: bool) -> str:
    """`enable_grad` helps only while recording is off, and not against inference mode."""
    on = ", or put what needs a gradient under `with torch.enable_grad():`." if in_force else "."
    if switch.name == "inference_mode":
        on = "."
    if switch.decorates is not None:
        return f"take `@{switch}` off `{switch.decorates.__name__}`{on}"
    if switch.is_block():
        return f"compute the loss, and what it is made of, outside of the block{on}"
    return (
        "`torch.set_grad_enabled(True)` before the loss is computed, or `with torch.no_grad():` around what needs none."
    )
