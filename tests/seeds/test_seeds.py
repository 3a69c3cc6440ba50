"""The programs that clarion was started for run as they were written, but for the import, and print what they should.

Addresses, timings and random values aside. Where the documents print what PyTorch itself would not, PyTorch is the
referee, and a comment says so.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import clarion as torch

HERE = Path(__file__).parent

# The large programs, made small: the text that is replaced, and by what. `python tests/seeds/NAME.py` runs them in full.
SMALLER = {
    "checkpointed_transformer": {"50000": "500", "n_layers=12": "n_layers=2", "d_model=512": "d_model=64"},
    "inference_contexts": {"N_ITER = 1000": "N_ITER = 3", "1024": "64", "2048": "128"},
}


def run(name: str, capsys: pytest.CaptureFixture[str]) -> tuple[list[str], dict[str, object]]:
    """The lines that a program prints (addresses as 0x...), and its variables."""
    path = HERE / f"{name}.py"
    source = path.read_text()
    for old, new in SMALLER.get(name, {}).items():
        assert old in source
        source = source.replace(old, new)
    names: dict[str, object] = {"__name__": "__main__"}
    torch.manual_seed(0)
    capsys.readouterr()
    exec(compile(source, str(path), "exec"), names)
    return re.sub(r"0x[0-9a-f]+", "0x...", capsys.readouterr().out).splitlines(), names


def filled(number: str) -> list[str]:
    """A 3 by 3 tensor of one number, as printed."""
    row = f"[{number}, {number}, {number}]"
    return [f"tensor([{row},", f"        {row},", f"        {row}])"]


@pytest.mark.smoke
def test_autograd_flow(capsys):
    lines, _ = run("autograd_flow", capsys)
    assert lines == [
        "x.requires_grad: True",
        "x.grad_fn: None",
        "y.grad_fn: <AddBackward0 object at 0x...>",
        "z.grad_fn: <MulBackward0 object at 0x...>",
        "out.grad_fn: <MeanBackward0 object at 0x...>",
        "Forward Pass Result: 27.0",
        "Gradients d(out)/dx:",
        "tensor([[4.5000, 4.5000],",
        "        [4.5000, 4.5000]])",
    ]


@pytest.mark.smoke
def test_graph_lifecycle(capsys):
    lines, _ = run("graph_lifecycle", capsys)
    assert lines == [
        "z.grad_fn: <SumBackward0 object at 0x...>",
        "z.grad_fn.next_functions: ((<MulBackward0 object at 0x...>, 0),)",
        # The document leaves out the second factor, a number: PyTorch shows (None, 0) for it.
        "MulBackward0.next_functions: ((<AccumulateGrad object at 0x...>, 0), (None, 0))",
        "d(z)/dx:",
        *filled("2."),
        # The document cuts after 87 characters; its program says e[:80], which PyTorch's exceptions refuse.
        "Expected error: Trying to backward through the graph a second time (or directly access saved ten...",
        "After first backward (retain_graph=True):",
        *filled("3."),
        "After second backward (accumulated):",
        *filled("6."),
    ]


def test_training_loop(capsys):
    lines, names = run("training_loop", capsys)
    assert len(lines) == 13
    pattern = r"Step +(\d+): loss=(\d+\.\d{4}), grad_norm=(\d+\.\d{4})"
    steps = [re.fullmatch(pattern, line).groups() for line in lines[:10]]
    assert [int(step) for step, *_ in steps] == list(range(0, 100, 10))
    losses = [float(loss) for _, loss, _ in steps]
    assert losses == sorted(losses, reverse=True)
    assert all(float(norm) <= 1.0 for *_, norm in steps)  # clipped
    assert lines[10] == ""
    assert lines[11] == f"Final loss: {names['loss_history'][-1]:.4f}"
    assert lines[12] == "All losses are Python floats (no graph refs): <class 'float'>"


@pytest.mark.smoke
def test_custom_function(capsys):
    lines, _ = run("custom_function", capsys)
    sums = lines.pop(3)
    assert lines == [
        "Verifying StableLogSumExp gradients...",
        "StableLogSumExp gradcheck: PASSED",
        "Custom gradient shape: torch.Size([3, 10])",
        "",
        "Quantization gradient (straight-through, same shape as weights): torch.Size([4, 4])",
        "Gradient values (all 1.0 — passed straight through): tensor([1.])",
    ]
    # The document prints a grad_fn behind the sums; a gradient from backward() without create_graph has none in PyTorch.
    # PyTorch prints 1.0000 or 1., depending on the last bit of the random numbers.
    assert re.fullmatch(r"Gradient row sums \(should be ~1\.0\): tensor\(\[1\.0*, 1\.0*, 1\.0*\]\)", sums)


def test_checkpointed_transformer(capsys):
    lines, names = run("checkpointed_transformer", capsys)
    if torch.cuda.is_available():
        assert re.fullmatch(r"Peak GPU memory: \d+\.\d MB", lines.pop(0))
    assert lines == [
        "Output shape: torch.Size([4, 64, 500])",
        "Embedding gradient exists: True",
        "Layer 0 attention gradient exists: True",
        "All parameters received gradients: True",
    ]
    assert len(names["model"].layers) == 2


def test_inference_contexts(capsys):
    lines, names = run("inference_contexts", capsys)
    assert re.fullmatch(r"Default \(graph tracking\): \d+\.\d{3}s \(baseline\)", lines[0])
    assert re.fullmatch(r"no_grad\(\): \d+\.\d{3}s \(-?\d+\.\d% faster\)", lines[1])
    assert re.fullmatch(r"inference_mode\(\): \d+\.\d{3}s \(-?\d+\.\d% faster\)", lines[2])
    assert lines[3:] == [
        "",
        "Training loss requires_grad: True",
        "Detached loss requires_grad: False",
        ".item() returns Python type: <class 'float'>",
        "",
        "Stop-gradient tensor requires_grad: False",
    ]
    # What its comments say
    assert not names["predictions"].requires_grad
    with pytest.raises(RuntimeError, match="does not require grad"):
        names["predictions"].sum().backward()
    names["loss"].backward()
    assert names["loss"].grad.item() == 1


def test_validation_loop(capsys):
    lines, names = run("validation_loop", capsys)
    assert lines == [f"{names['correct']} of 40: {names['correct'] / 40:.3f}"]
    assert isinstance(names["correct"], int)
    assert not names["outputs"].requires_grad
    assert not names["model"][1].training


def test_debugging(capsys):
    with pytest.warns(UserWarning, match="Error detected in SqrtBackward0") as caught:
        lines, names = run("debugging", capsys)
    norms = [f"{name}', {p.grad.norm().item()})" for name, p in names["model"].named_parameters() if p.grad is not None]
    assert all(norm in lines[0] for norm in norms)
    assert lines[1] == str(names["loss"].item())
    assert [line.split()[:3] for line in lines[2:6]] == [
        ["0.weight", "True", "True"],
        ["0.bias", "True", "True"],
        ["2.weight", "True", "True"],
        ["2.bias", "False", "False"],
    ]
    assert lines[5].endswith("NO GRAD")
    assert lines[6] == "Function 'SqrtBackward0' returned nan values in its 0th output."
    assert not torch.is_anomaly_enabled()
    # The warning shows the user's line, and nothing of clarion's own
    text = str(caught[0].message)
    assert "(x.sqrt() * 0).sum().backward()" in text
    assert "clarion/core" not in text
