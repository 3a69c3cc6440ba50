"""What happens inside of what `torch.compile` made is found by a twin that is run beside it, and nothing else changes."""

import contextlib
import gc
import random
import threading
import weakref

import pytest

torch = pytest.importorskip("torch", reason="the comparison needs PyTorch")

from torch._dynamo.utils import counters

import clarion.doctor


class _Pool(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.score, self.out = torch.nn.Linear(4, 1), torch.nn.Linear(4, 2)
        self.norm, self.drop = torch.nn.BatchNorm1d(4), torch.nn.Dropout(0.2)

    def forward(self, x):
        weights = self.score(x).softmax(-1)
        return self.out(self.drop(self.norm((weights * x).sum(1))))


_LINE = _Pool.forward.__code__.co_firstlineno + 1


def _train(way, steps=12):
    torch.manual_seed(0)
    torch._dynamo.reset()
    counters.clear()
    model = _Pool()
    compiled = torch.compile(model, backend="aot_eager") if way == "module" else _function(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(steps):
        x = torch.randn(8, 3, 4)
        loss = torch.nn.functional.cross_entropy(compiled(x), (x[:, 0, 0] > 0).long())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    state = [t.tolist() for t in model.state_dict().values()]
    return loss.item(), torch.randn(3).tolist(), state, dict(counters["stats"]), dict(counters["graph_break"])


def _function(model):
    return torch.compile(backend="aot_eager")(lambda x: model(x))


@pytest.mark.parametrize("way", ["module", "function"])
@pytest.mark.filterwarnings("ignore::clarion.DiagnosisWarning")
def test_the_line_is_found_and_nothing_else_changes(way):
    alone = _train(way)
    with clarion.doctor.watch() as watch:
        assert _train(way) == alone
    assert watch._session.failures == {}
    assert [(finding.name, finding.line) for finding in watch.findings] == [("softmax-over-one", _LINE)]


@pytest.mark.filterwarnings("ignore::clarion.DiagnosisWarning")
def test_who_asks_for_a_line_gets_it_as_it_is_written():
    with clarion.doctor.watch(listen_at=1) as watch:
        _train("module")
    assert [(finding.name, finding.line) for finding in watch.findings] == [("softmax-over-one", _LINE)]


@contextlib.contextmanager
def _waiting_thread():
    done = threading.Event()
    waiting = threading.Thread(target=done.wait)
    waiting.start()
    try:
        yield
    finally:
        done.set()
        waiting.join()


@pytest.mark.parametrize("beside", [contextlib.nullcontext, _waiting_thread])  # progress bars have one
@pytest.mark.filterwarnings("ignore")  # Dynamo's own
def test_a_gradient_that_breaks_inside_is_located(beside):
    torch._dynamo.reset()

    def distance(x):
        return x.pow(2).sum(-1).sqrt()

    with beside(), clarion.doctor.watch() as watch:
        net = torch.nn.Linear(3, 2)
        measured = torch.compile(distance, backend="aot_eager")
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for step in range(24):
            x = torch.randn(6, 3)
            out = net(x)
            loss = measured(out - out.detach() if step == 20 else out).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    found = {(finding.name, finding.line) for finding in watch.findings}
    assert ("non-finite-backward", distance.__code__.co_firstlineno + 1) in found


@pytest.mark.filterwarnings("ignore")  # Dynamo's own
def test_dynamo_knows_what_it_has_compiled():
    with clarion.doctor.watch():
        torch._dynamo.reset()

        @torch.compile(backend="eager")
        def wave(x):
            return x.sin() + 1

        x = torch.ones(3)
        assert torch.compile(wave, backend="eager")(x).equal(wave(x))
        assert torch._dynamo.explain(wave)(x).graph_count == 1


@pytest.mark.filterwarnings("ignore")  # Dynamo's own
def test_a_compiled_function_that_trains_is_left_alone():
    """Dynamo reads optimizers, modes and clipping: it must find them as they are."""

    def run():
        torch.manual_seed(0)
        torch._dynamo.reset()
        counters.clear()
        net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 1))
        optimizer = torch.optim.Adam(net.parameters(), lr=0.01)

        @torch.compile(backend="aot_eager")
        def step(x):
            net.train()
            loss = net(x).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            optimizer.step()
            for p in net.parameters():
                p.data.clamp_(-1, 1)
            return loss.detach()

        losses = [step(torch.randn(5, 3)).item() for _ in range(30)]
        return losses, dict(counters["stats"]), dict(counters["graph_break"])

    alone = run()
    with clarion.doctor.watch() as watch:
        assert run() == alone
    assert watch._session.failures == {}
    assert watch.findings == []


class _Silent(torch.nn.Module):
    """No unit of it ever fires."""

    def __init__(self):
        super().__init__()
        self.first, self.last = torch.nn.Linear(4, 8), torch.nn.Linear(8, 1)
        torch.nn.init.constant_(self.first.bias, -9.0)

    def forward(self, x):
        return self.last(torch.relu(self.first(x)))


class _Late(torch.nn.Module):
    """Its loss breaks long after the first steps."""

    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 3)

    def forward(self, x):
        scores = self.layer(x).masked_fill(x[:, 1:2] == 0, float("-inf"))
        return scores.softmax(-1)[:, :1]


class _Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.factor = factor
        return factor * x

    @staticmethod
    def backward(ctx, grad):
        return grad, None


class _Custom(torch.nn.Module):
    """The gradient of its Function is wrong."""

    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)

    def forward(self, x):
        return _Doubled.apply(self.layer(x), 2.0)


class _Scaled(torch.nn.Module):
    """A parameter becomes a number, where Dynamo ends the graph; what follows runs as it is."""

    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)
        self.scale = torch.nn.Parameter(torch.tensor(0.3))

    def forward(self, x):
        return self.layer(x) * self.scale.item()


class _Recurrent(torch.nn.Module):
    """Dynamo compiles nothing of a model with a GRU."""

    def __init__(self):
        super().__init__()
        self.score, self.cell, self.out = torch.nn.Linear(4, 1), torch.nn.GRU(4, 5), torch.nn.Linear(5, 1)

    def forward(self, x):
        weights = self.score(x).softmax(-1)
        return self.out(self.cell(weights * x)[0])


_INSIDE = [
    (_Silent, "dead-units", 1),
    (_Late, "non-finite-forward", 2),
    (_Scaled, "path-cut", 1),
    (_Recurrent, "softmax-over-one", 1),
]


def _fit(model):
    torch.manual_seed(0)
    torch._dynamo.reset()
    counters.clear()
    losses = []
    model = torch.compile(model(), backend="aot_eager")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for step in range(70):
        x = torch.randn(8, 4)
        x[0, 1] *= step != 60
        loss = (model(x) - x[:, :1]).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if loss.isnan():
            break
    return losses[:60], torch.randn(3).tolist(), dict(counters["stats"]), dict(counters["graph_break"])


@pytest.mark.filterwarnings("ignore")  # Dynamo's own
@pytest.mark.parametrize(("model", "name", "line"), _INSIDE)
def test_faults_inside_of_a_compiled_model(model, name, line):
    alone = _fit(model)
    with clarion.doctor.watch() as watch:
        assert _fit(model) == alone
    assert watch._session.failures == {}
    assert [(f.name, f.line) for f in watch.findings] == [(name, model.forward.__code__.co_firstlineno + line)]


@pytest.mark.filterwarnings("ignore")  # Dynamo's own
def test_a_wrong_gradient_of_a_custom_function_inside():
    alone = _fit(_Custom)
    with clarion.doctor.watch(thorough=True) as watch:
        assert _fit(_Custom) == alone
    assert watch._session.failures == {}
    found = [(f.name, f.line) for f in watch.findings]
    assert found == [("custom-backward-wrong", _Doubled.backward.__code__.co_firstlineno + 1)]


@pytest.mark.filterwarnings("ignore")  # Dynamo's own
def test_what_cannot_be_compiled_because_it_overwrites_what_is_saved():
    def forward(x):
        y = x.exp()
        y += 1
        return y.sum()

    with clarion.doctor.watch() as watch:
        with pytest.raises(Exception, match="modified by an inplace operation"):
            torch.compile(forward, backend="aot_eager")(torch.ones(3, requires_grad=True))
    assert watch._session.failures == {}
    found = [(f.name, f.line) for f in watch.findings]
    assert found == [("saved-value-overwritten", forward.__code__.co_firstlineno + 2)]


@pytest.mark.filterwarnings("ignore")  # Dynamo's own
def test_steps_inside_of_a_backward_pass_add_no_graphs():
    def run():
        torch.manual_seed(0)
        torch._dynamo.reset()
        counters.clear()
        model = torch.compile(torch.nn.Linear(3, 1), backend="aot_eager")
        optimizers = {p: torch.optim.Adam([p], lr=0.01) for p in model.parameters()}

        def step(p):
            optimizers[p].step()
            optimizers[p].zero_grad()

        for p in model.parameters():
            p.register_post_accumulate_grad_hook(step)
        for _ in range(14):
            loss = model(torch.randn(5, 3)).pow(2).mean()
            loss.backward()
        return loss.item(), dict(counters["stats"])

    alone = run()
    with clarion.doctor.watch() as watch:
        assert run() == alone
    assert watch._session.failures == {}
    assert watch.findings == []


class _Uncertain(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Dropout(0.2), torch.nn.Linear(8, 1))

    def forward(self, x):
        return self.layers(x)


@pytest.mark.filterwarnings("ignore")  # Dynamo's own
def test_layers_that_are_to_drop_in_a_compiled_model():
    with clarion.doctor.watch() as watch:
        torch._dynamo.reset()
        model = torch.compile(_Uncertain(), backend="aot_eager").eval()
        model.layers[1].train()
        with torch.no_grad():
            for _ in range(4):
                model(torch.randn(5, 3))
    assert watch.findings == []


class _Chance(torch.nn.Module):
    """What it is given goes through now and then."""

    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 4)

    def forward(self, x):
        return x if random.random() > 0.6 else x + self.layer(x).relu()


@pytest.mark.filterwarnings("ignore")  # Dynamo's own
def test_graphs_go_as_they_would_without_us():
    random.seed(0)
    torch._dynamo.reset()
    with clarion.doctor.watch() as watch:
        layers = [_Chance() for _ in range(6)]
        model = torch.compile(torch.nn.Sequential(*layers, torch.nn.Linear(4, 1)), backend="aot_eager")
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        made = []
        for _ in range(30):
            x = torch.randn(5, 4).requires_grad_() * 1
            made.append(weakref.ref(x.grad_fn.metadata.setdefault("kept", _Kept())))
            loss = (model(x) - x[:, :1]).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        del loss, x
        gc.collect()
        assert sum(kept() is not None for kept in made) == 0
    assert watch.findings == []


class _Kept:
    """Lives as long as its node."""
