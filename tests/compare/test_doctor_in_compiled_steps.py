"""What a compiled step does beside computing is heard: steps, clipping, clearing, modes of modules; and nothing else changes."""

import contextlib
import warnings
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="the comparison needs PyTorch")

from torch import nn
from torch._dynamo.utils import counters

import clarion.doctor
from tests.diagnose.harness import CASES
from tests.doctor import harness

pytestmark = pytest.mark.filterwarnings("ignore")  # Dynamo's own


def _net():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, 8), nn.Dropout(0.1), nn.ReLU(), nn.Linear(8, 1))
    return net, torch.optim.SGD(net.parameters(), lr=0.01)


def _never_cleared(x, net, optimizer, memory):
    loss = net(x).pow(2).mean()
    loss.backward()
    optimizer.step()  # stale-gradient
    return loss.detach()


def _clipped_too_late(x, net, optimizer, memory):
    loss = net(x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)  # clip-without-effect
    return loss.detach()


def _left_in_eval_mode(x, net, optimizer, memory):
    loss = net(x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    memory.append(1)
    if len(memory) == 4:
        net.eval()  # training-in-eval-mode
    return loss.detach()


def _cleared_by_hand(x, net, optimizer, memory):
    loss = net(x).pow(2).mean()
    loss.backward()
    for p in net.parameters():
        p.grad = None  # gradient-discarded
    net(x).mean().backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss.detach()


def _predictions_kept(x, net, optimizer, memory):
    out = net(x)  # graphs-accumulate
    loss = out.pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    memory.append(out)
    return loss.detach()


def _sound(x, net, optimizer, memory):
    net.train()
    loss = net(x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    optimizer.step()
    memory.append(loss.detach())
    return loss.detach()


def _sound_by_hand(x, net, optimizer, memory):
    loss = net(x).pow(2).mean()
    loss.backward()
    with torch.no_grad():
        for p in net.parameters():
            p -= 0.01 * p.grad
            p.grad = None
    return loss.detach()


def _run(function, steps=60):
    torch._dynamo.reset()
    counters.clear()
    net, optimizer = _net()
    memory = []
    step = torch.compile(function, backend="aot_eager")
    losses = [step(torch.randn(5, 3), net, optimizer, memory).item() for _ in range(steps)]
    return losses, [p.tolist() for p in net.parameters()], torch.randn(2).tolist(), dict(counters["stats"])


def _expected(function):
    code = function.__code__
    text = Path(__file__).read_text().splitlines()
    for number in range(code.co_firstlineno, max(line for _, _, line in code.co_lines() if line) + 1):
        if "  # " in text[number - 1]:
            return [(text[number - 1].rpartition("  # ")[2], number)]
    return []


@pytest.mark.parametrize(
    "function",
    [
        _never_cleared,
        _clipped_too_late,
        _left_in_eval_mode,
        _cleared_by_hand,
        _predictions_kept,
        _sound,
        _sound_by_hand,
    ],
)
def test_compiled_steps(function):
    alone = _run(function)
    with clarion.doctor.watch() as watch:
        assert _run(function) == alone
    assert watch._session.failures == {}
    assert [(finding.name, finding.line) for finding in watch.findings] == _expected(function)


@pytest.mark.parametrize("whole", [True, False])
def test_what_was_compiled_before_the_session(whole):
    """A function or a module, compiled and called before `watch()`: nothing is read again because of us, and steps are heard."""

    def train(watch):
        torch._dynamo.reset()
        counters.clear()
        net, optimizer = _net()
        fast = torch.compile(net if whole else lambda x: net(x).relu(), backend="aot_eager")
        fast(torch.randn(5, 3)).sum().backward()
        with watch as seen, warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            for _ in range(60):
                fast(torch.randn(5, 3)).pow(2).mean().backward()
                optimizer.step()
        said = [str(each.message) for each in said if not issubclass(each.category, clarion.DiagnosisWarning)]
        return seen, (dict(counters["stats"]), [p.tolist() for p in net.parameters()], torch.randn(2).tolist(), said)

    _, alone = train(contextlib.nullcontext())
    seen, watched = train(clarion.doctor.watch())
    assert watched == alone
    assert seen._session.failures == {}
    assert [finding.name for finding in seen.findings] == ["stale-gradient"]


_PROGRAMS = [
    ("model", "softmax-twice/segmentation_per_pixel"),
    ("model", "graph-built-unused/target_network_without_no_grad"),
    ("model", "path-cut/temperature_item"),
    ("model", "recording-off/inference_features_for_a_head"),
    ("model", "saved-value-overwritten/optimizer_steps_between"),
    ("model", "dropout-ignores-mode/default_of_forward"),
    ("model", "graphs-accumulate/kl_terms_of_vae"),
    ("model", "non-finite-forward/window_without_spread"),
    ("function", "inference-in-train-mode/validate_forgets_eval"),
    ("step", "gradient-discarded/attack_helper_clears"),
    ("function", "loss-broadcast/hand_written_regression"),
    ("function", "loss-broadcast/third_stage"),
    ("step", "clip-without-effect/norm_after_step"),
    ("step", "clip-without-effect/clip_in_post_hook"),
    ("step", "inference-in-train-mode/transformer_predict_method"),
    ("step", "parameter-unregistered/python_list"),
    ("step", "loss-is-leaf/requires_grad_true"),
    ("step", "gradient-vanishes/labels_that_come_later"),
]


@pytest.mark.parametrize(("way", "name"), _PROGRAMS)
@pytest.mark.parametrize("kind", ["broken", "clean"])
def test_programs_compiled_mechanically(way, name, kind):
    path = CASES / f"{name}.{kind}.py"
    _, _, wrong = harness.judge(path, compared=True, way=way)
    nothing_is_compiled = (kind, name) == ("clean", "inference-in-train-mode/validate_forgets_eval")
    assert wrong == (None if nothing_is_compiled else [])
