"""Steps drawn at random as source text, compiled and not, in two worlds that are alike: arguments, modes and options change on the way."""

from __future__ import annotations

import linecache
import random

import numpy as np
import pytest

import clarion as torch
from clarion import nn

from .drawing import Drawing
from .worlds import compare

F = torch.nn.functional
OPTIMIZERS = [
    lambda p: torch.optim.SGD(p, 0.05),
    lambda p: torch.optim.SGD(p, 0.05, momentum=0.9),
    lambda p: torch.optim.Adam(p, 0.01),
    lambda p: torch.optim.AdamW(p, 0.01, weight_decay=0.1),
]
SEEDS = range(14)


def drawn(seed, raised):
    """A world; says for each call whether it raised."""
    trains = bool(seed % 3)
    text, file = Drawing(seed).text(trains), f"<drawn step {seed}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)

    def world():
        draw = random.Random(seed)
        torch.manual_seed(seed)
        middle = draw.choice([nn.Tanh(), nn.GELU(), nn.BatchNorm1d(6)])
        model = nn.Sequential(nn.Linear(4, 6, bias=not isinstance(middle, nn.BatchNorm1d)), middle, nn.Linear(6, 4))
        table, state, options = torch.randn(5, 4, requires_grad=True), torch.zeros(4), {"wide": True}
        weights = {n: torch.randn(4, n, requires_grad=True) for n in range(1, 200)}
        parameters = [*model.parameters(), table, weights[4]]
        optimizer = draw.choice(OPTIMIZERS)(parameters)
        scope = {
            "torch": torch, "F": F, "model": model, "table": table, "state": state, "options": options,
            "weights": weights, "parameters": parameters, "optimizer": optimizer, "bias": torch.randn(4),
            "tokens": torch.tensor([1, 3, 0]), "index": torch.tensor([0, 2, 1]),
        }  # fmt: skip
        exec(compile(text, file, "exec"), scope)

        def script(call, note):
            given = torch.Generator().manual_seed(seed)
            for i in range(9):
                x, y, w = (torch.randn(*shape, generator=given) for shape in ((3, 4), (4,), (3, 1)))
                options["wide"], model.training = i != 5, i != 7
                result = call(x if trains else x.requires_grad_(), y, w, i == 4, 3 if i > 6 else 2)
                raised.append(isinstance(result, str))
                if not trains and not raised[-1]:
                    try:
                        result[0].backward()
                    except RuntimeError as error:  # what it saved is overwritten
                        note(type(error).__name__)
                note(x.grad, parameters, state, list(model.buffers()))
                optimizer.param_groups[0]["lr"] *= 0.95
                if not trains:
                    optimizer.zero_grad()

        return scope["step"], script

    return world


@pytest.mark.parametrize("seed", SEEDS)
def test_drawn_steps_do_what_is_written(seed):
    raised: list[bool] = []
    with np.errstate(all="ignore"):
        found = compare(drawn(seed, raised))
    assert found.replays or found.reasons or any(raised)
