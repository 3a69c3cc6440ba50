"""Whole programs of kinds that people write, beside the networks of `training` and `images`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .harness import workload
from .training import train


@workload
def box_matching(t: Any) -> Callable[[], object]:
    """Boxes that are proposed beside those that are there: intersections over unions, and the best for each."""
    t.manual_seed(0)

    def boxes(n: int) -> Any:
        corner = t.rand(n, 2) * 100
        return t.cat([corner, corner + t.rand(n, 2) * 30 + 1], 1)

    a, b = boxes(2000), boxes(20)

    def step() -> object:
        first = (a[:, 2] - a[:, 0]) * (a[:, 3] - a[:, 1])
        second = (b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1])
        size = (t.min(a[:, None, 2:], b[:, 2:]) - t.max(a[:, None, :2], b[:, :2])).clamp(min=0)
        both = size[:, :, 0] * size[:, :, 1]
        overlap = both / (first[:, None] + second - both)
        best, which = overlap.max(1)
        labels = t.where(best > 0.5, which, -1)
        labels[overlap.max(0)[1]] = t.arange(20)
        return (a - b[labels.clamp(min=0)]).abs().sum()

    return step


@workload
def text_convolutions(t: Any) -> Callable[[], object]:
    """Sentences as images: kernels as wide as a word is long, and the largest of each."""
    t.manual_seed(0)
    nn, f = t.nn, t.nn.functional
    words, last = nn.Embedding(2000, 64), nn.Linear(96, 2)
    layers = nn.ModuleList([nn.Conv2d(1, 32, (k, 64)) for k in (3, 4, 5)])
    x, y = t.randint(0, 2000, (16, 40)), t.randint(0, 2, (16,))

    def loss() -> Any:
        z = words(x).unsqueeze(1)
        z = t.cat([f.relu(layer(z)).squeeze(3).max(2)[0] for layer in layers], 1)
        return f.cross_entropy(last(z), y)

    return train(t, nn.ModuleList([words, layers, last]), loss)


@workload
def text_generation(t: Any) -> Callable[[], object]:
    """Two layers of attention that write ten letters, each after all before."""
    t.manual_seed(0)
    nn, f = t.nn, t.nn.functional
    letters = nn.Embedding(65, 64)
    into, out = (nn.ModuleList([nn.Linear(64, n) for _ in range(2)]) for n in (192, 64))
    norms = nn.ModuleList([nn.LayerNorm(64) for _ in range(2)])

    def step() -> object:
        text = t.zeros(1, 1, dtype=t.int64)
        with t.no_grad():
            for n in range(1, 11):
                x = letters(text)
                for norm, first, second in zip(norms, into, out, strict=True):
                    q, k, v = (z.view(1, n, 4, 16).transpose(1, 2) for z in first(norm(x)).chunk(3, -1))
                    seen = f.scaled_dot_product_attention(q, k, v, is_causal=True)
                    x = x + second(seen.transpose(1, 2).reshape(1, n, 64))
                text = t.cat([text, (x[:, -1] @ letters.weight.T).argmax(-1, keepdim=True)], 1)
        return text

    return step


@workload
def last_layers_of_one_image(t: Any) -> Callable[[], object]:
    """The end of a residual network for one image: many weights, sixteen pixels."""
    t.manual_seed(0)
    nn = t.nn
    model = nn.Sequential(nn.Conv2d(256, 512, 3, 2, 1), nn.ReLU(), nn.Conv2d(512, 512, 3, padding=1), nn.ReLU()).eval()
    x = t.randn(1, 256, 8, 8)

    def step() -> object:
        with t.no_grad():
            return model(x)

    return step


@workload
def words_one_by_one(t: Any) -> Callable[[], object]:
    """Four layers of attention that write eight words, each beside what is kept of all before."""
    t.manual_seed(0)
    nn, f, width = t.nn, t.nn.functional, 256
    words, norms = nn.Embedding(1000, width), nn.ModuleList([nn.LayerNorm(width) for _ in range(8)])
    sizes = ((width, 3 * width), (width, width), (width, 4 * width), (4 * width, width))
    layers = nn.ModuleList([nn.ModuleList([nn.Linear(*size) for size in sizes]) for _ in range(4)])

    def step() -> object:
        word, kept = t.zeros(1, 1, dtype=t.int64), [t.zeros(2, 1, 8, 0, width // 8) for _ in layers]
        with t.no_grad():
            for _ in range(8):
                x = words(word)
                for number, (into, out, up, down) in enumerate(layers):
                    q, k, v = (z.view(1, 1, 8, -1).transpose(1, 2) for z in into(norms[2 * number](x)).chunk(3, -1))
                    kept[number] = t.cat([kept[number], t.stack([k, v])], 3)
                    seen = f.scaled_dot_product_attention(q, kept[number][0], kept[number][1])
                    x = x + out(seen.transpose(1, 2).reshape(1, 1, width))
                    x = x + down(f.gelu(up(norms[2 * number + 1](x))))
                word = (x[:, -1] @ words.weight.T).argmax(-1, keepdim=True)
        return word

    return step


@workload
def hidden_states(t: Any) -> Callable[[], object]:
    """How likely sequences are under a hidden Markov model: a hundred times the logarithm of a sum over the states before."""
    t.manual_seed(0)
    change, seen = t.randn(32, 32, requires_grad=True), t.randn(16, 100, 32)

    def step() -> object:
        logs, state = change.log_softmax(-1), seen[:, 0]
        for i in range(1, 100):
            state = t.logsumexp(state.unsqueeze(2) + logs, 1) + seen[:, i]
        (-t.logsumexp(state, 1).sum()).backward()

    return step


@workload
def long_convolution(t: Any) -> Callable[[], object]:
    """A filter as long as the signal, by way of its spectrum, and back."""
    t.manual_seed(0)
    x, taps = t.randn(16, 4096, requires_grad=True), t.randn(4096)

    def step() -> object:
        spectrum = t.fft.rfft(x, 8192) * t.fft.rfft(taps, 8192)
        t.fft.irfft(spectrum, 8192).square().sum().backward()

    return step


@workload
def sentences_in_a_gru(t: Any) -> Callable[[], object]:
    """Training on eight sentences of twenty words: many small steps."""
    t.manual_seed(0)
    model, last = t.nn.GRU(32, 64), t.nn.Linear(64, 2)
    x, y = t.randn(20, 8, 32), t.randint(0, 2, (8,))
    return train(t, t.nn.ModuleList([model, last]), lambda: t.nn.functional.cross_entropy(last(model(x)[0][-1]), y))


@workload
def gaussian_process(t: Any) -> Callable[[], object]:
    """How likely 200 values are under a Gaussian process, and its gradients by what the kernel is made of."""
    t.manual_seed(0)
    x, y, width, noise = t.rand(200, 3), t.randn(200, 1), *(t.tensor(v, requires_grad=True) for v in (0.0, -2.0))

    def step() -> object:
        near = t.exp(-0.5 * (t.cdist(x, x) / width.exp()) ** 2) + noise.exp() * t.eye(200)
        factor = t.linalg.cholesky(near)
        (0.5 * (y * t.cholesky_solve(y, factor)).sum() + factor.diagonal().log().sum()).backward()

    return step


@workload
def singular_values(t: Any) -> Callable[[], object]:
    """What is asked of matrices: their spectra, determinants, inverses, and what they map to a given result."""
    t.manual_seed(0)
    tall, square, small, given = t.randn(128, 96), t.randn(8, 64, 64), t.randn(200, 3, 3), t.randn(128, 4)

    def step() -> object:
        even, flat = square @ square.mT + 64 * t.eye(64), small @ small.mT + t.eye(3)
        found = [
            t.linalg.svdvals(tall),
            t.linalg.cond(square),
            t.linalg.eigvalsh(even),
            t.linalg.slogdet(even)[1],
        ]
        found += [
            t.linalg.inv(even),
            t.linalg.lstsq(tall, given)[0],
            t.linalg.solve_triangular(flat, small, upper=False),
        ]
        return found

    return step


@workload
def equal_scores(t: Any) -> Callable[[], object]:
    """The best twenty of 20,000 scores in steps of a hundredth: which of equal ones are chosen is PyTorch's choice."""
    t.manual_seed(0)
    scores = (t.randn(4, 20_000) * 100).round() / 100
    return lambda: t.topk(scores, 20)
