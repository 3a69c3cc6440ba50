"""What `torch.compile` made is not looked into, unless somebody asks for a line."""

import pytest

torch = pytest.importorskip("torch", reason="the comparison needs PyTorch")

import clarion.doctor


class _Pool(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.score, self.out = torch.nn.Linear(4, 1), torch.nn.Linear(4, 2)

    def forward(self, x):
        weights = self.score(x).softmax(-1)
        return self.out((weights * x).sum(1))


@pytest.mark.parametrize("way", ["module", "function"])
@pytest.mark.filterwarnings("ignore::clarion.DiagnosisWarning")
def test_who_asks_for_a_line_gets_it_from_what_is_compiled(way):
    def train(**how):
        torch.manual_seed(0)
        with clarion.doctor.watch(**how) as watch:
            model = _Pool()
            if way == "module":
                compiled = torch.compile(model, backend="eager")
            else:
                compiled = torch.compile(backend="eager")(lambda x: model(x))
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for _ in range(12):
                x = torch.randn(8, 3, 4)
                loss = torch.nn.functional.cross_entropy(compiled(x), (x[:, 0, 0] > 0).long())
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        assert watch._session.failures == {}
        return [(finding.name, finding.line) for finding in watch.findings]

    assert train() == []
    assert train(listen_at=1) == [("softmax-over-one", _Pool.forward.__code__.co_firstlineno + 1)]
