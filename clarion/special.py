"""`torch.special`: special functions, most of them under a second name."""

from __future__ import annotations

from typing import Any

from .ops.faces.api import FUNCTIONS as _FUNCTIONS

# name here: name among the functions
_NAMES = {
    "digamma": "digamma", "psi": "digamma", "erf": "erf", "erfc": "erfc", "erfinv": "erfinv", "exp2": "exp2",
    "expit": "sigmoid", "expm1": "expm1", "gammainc": "igamma", "gammaincc": "igammac",
    "gammaln": "lgamma", "i0": "i0", "log1p": "log1p", "logit": "logit",
    "logsumexp": "logsumexp", "multigammaln": "mvlgamma", "polygamma": "polygamma", "sinc": "sinc", "softmax": "softmax", "xlogy": "xlogy",
    "log_softmax": "log_softmax",
}  # fmt: skip

_NAMES |= {name.removeprefix("special_"): name for name in _FUNCTIONS if name.startswith("special_")}
globals().update({name: _FUNCTIONS[known] for name, known in _NAMES.items() if known in _FUNCTIONS})


def round(input: Any, *, decimals: int = 0, out: Any = None) -> Any:
    """The nearest number of `decimals` places."""
    return _FUNCTIONS["round"](input, decimals=decimals, out=out)


def __getattr__(name: str) -> Any:
    raise AttributeError(f"clarion.special has no function {name!r}")
