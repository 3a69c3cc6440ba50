"""dropout-ignores-mode"""

from __future__ import annotations

import ast
import sys
from types import FrameType
from typing import Any

from ..graph.layers import around, calls
from ..rule import Diagnosis
from ..source.places import Place, arguments, called, here

_ATTENTION = "scaled_dot_product_attention"
# Words in a `training=…` that tell of Monte-Carlo dropout.
_HINTS = ("mc", "monte", "sampl", "stoch", "bayes", "always")


class DropoutIgnoresMode(Diagnosis):
    """Dropout was at work in a module that is in eval mode.

    `F.dropout(x, p)` drops whatever the mode is, because its argument `training` is True unless it is given;
    `scaled_dot_product_attention(dropout_p=p)` knows no mode at all. A `nn.Dropout` that is built in `forward`, or kept in
    a Python list, is not reached by `eval()` and stays in train mode.

    Broken:

        def forward(self, x):
            return self.fc(F.dropout(x, 0.5))

    Fixed:

        def forward(self, x):
            return self.fc(F.dropout(x, 0.5, training=self.training))

    Silent where it is written out (`training=True`), where a registered dropout layer was put into train mode by itself
    (Monte-Carlo dropout), and outside of modules.
    """

    name = "dropout-ignores-mode"
    why = "predictions are random in evaluation, too: scores are worse than the model is, and differ from call to call."

    def __init__(self, session: Any) -> None:
        super().__init__(session)
        self._asked: set[int] = set()  # modules, by identity, whose mode was set

    def on_training_set(self, module: Any, training: bool) -> None:
        """A module whose mode somebody sets is reached by it."""
        self._asked.add(id(module))

    def near_dropped(self, tensor: Any, p: float) -> None:
        """Dropout drew a mask: what is the mode of the module around it?"""
        inner = None
        for module in around(sys._getframe(1)):
            if module is inner:
                continue
            if module.training and inner is None:
                inner = module  # it may be one that nobody reaches
                continue
            if not module.training and not (inner is not None and self._is_reached(inner, module)):
                self._say(module, inner, p)
            return

    def _is_reached(self, inner: Any, module: Any) -> bool:
        """Is a module in train mode because somebody wants that?"""
        return id(inner) in self._asked or any(inner is each for each in module.modules())

    def _say(self, module: Any, inner: Any, p: float) -> None:
        place = here()
        call = called(place)
        if inner is None and place is not None and call is not None and _is_on_purpose(call, place):
            return
        around = f"{type(module).__name__} is in eval mode, and dropout (p={p:g}) sampled a mask in it"
        if inner is not None:
            kind = type(inner).__name__
            what = f"{around}: this {kind} is not one of its submodules, so that `eval()` does not reach it."
            fix = f"keep the {kind} as an attribute from `__init__` on (`self.drop = …`; several in a `nn.ModuleList`)."
        elif call is not None and _name(call) == _ATTENTION:
            what = f"{around}: `dropout_p` is used in every mode."
            fix = f"`dropout_p={p:g} if self.training else 0.0`."
        else:
            what = f"{around}: the call does not follow `self.training`."
            fix = f"`F.{_name(call) if call is not None else 'dropout'}(x, {p:g}, training=self.training)`."
        self.report(place, what, fix=fix)


def _name(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "dropout")


def _is_on_purpose(call: ast.Call, place: Place) -> bool:
    """Does the call say itself that it is to drop: `training=True`, `training=self.training or self.extra`?

    A variable (`training=train`) is what somebody handed in; an attribute of its own (`self.is_training`) is what nobody
    remembers when `eval()` is called.
    """
    if _name(call) == _ATTENTION:
        return False
    for value in [word.value for word in call.keywords if word.arg in ("training", "train")] + call.args[2:3]:
        words = [getattr(node, "attr", getattr(node, "id", "")).lower() for node in ast.walk(value)]
        literal = isinstance(value, ast.Constant) and value.value is True
        handed = isinstance(value, ast.Name) and "train" in value.id.lower() and _was_handed(value.id, place)
        either = isinstance(value, ast.BoolOp) and "training" in words
        if literal or handed or either or any(hint in word for word in words for hint in _HINTS):
            return True
    return False


def _was_handed(name: str, place: Place) -> bool:
    """Was a variable given by whoever called the module? If it is an argument of `forward`, it may be its default."""
    names = arguments(place)
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code is not place[0]:
        frame = frame.f_back
    if frame is None or place[0].co_name != "forward" or name not in names:
        return True
    handed = (call.hands(name, names.index(name)) for call in calls(frame.f_back))
    return next((found for found in handed if found is not None), False)
