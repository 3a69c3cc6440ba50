"""What happens inside of what `torch.compile` made is found by a twin that is run beside it, and nothing else changes."""

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


@pytest.mark.filterwarnings("ignore")  # Dynamo's own
def test_a_gradient_that_breaks_inside_is_located():
    def distance(x):
        return x.pow(2).sum(-1).sqrt()

    with clarion.doctor.watch() as watch:
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
