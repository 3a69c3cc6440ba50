"""Steps of a training, drawn at random as the text of a function: shapes that broadcast, views, writes in place, branches, parts without
gradients, other types, modules with buffers."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

Shape = tuple[int, ...]


def _same(s: Shape) -> Shape:
    return s


def _rows(s: Shape) -> Shape | None:
    return s or None


def _matrix(s: Shape) -> Shape | None:
    return s if len(s) == 2 else None


def _square(s: Shape) -> Shape | None:
    return (*s[:-1], s[-2]) if len(s) > 1 else None


# What is written, and the shape after it; None where it cannot be. `@` stands for the value.
ONE: list[tuple[str, Callable[[Shape], Shape | None]]] = [
    *[(f"torch.{name}(@)", _same) for name in ("tanh", "sigmoid", "sin", "erf", "square")],
    *[(f"F.{name}(@)", _same) for name in ("relu", "gelu", "silu", "softplus", "elu", "hardtanh")],
    *[(text, _same) for text in ("@ * 0.5 + 0.1", "-@", "1 - @", "2 / (1 + @.abs())", "@ ** 2", "@.clamp(-0.5, 0.5)")],
    *[(text, _same) for text in ("@.detach() * 2", "@.clone()", "F.dropout(@, 0.3)", "@ + torch.rand_like(@)")],
    *[(text, _same) for text in ("@.double().sin().float()", "(@.bfloat16() * 2).float()", "torch.rsqrt(@.abs() + 1)")],
    *[(text, _same) for text in ("torch.where(x.mean() > 9, @, @ * 2)", "@.masked_fill(@ > 99, 0.5)")],
    *[(f"@.{text}", _rows) for text in ("softmax(0)", "log_softmax(-1)", "cumsum(0)", "flip(0)", "roll(1, -1)")],
    *[(text, _rows) for text in ("F.layer_norm(@, @.shape[-1:])", "F.normalize(@ + 1, dim=-1)", "@.sort(-1).values")],
    *[(f"@.{name}(0)", lambda s: s[1:] if s else None) for name in ("sum", "mean", "amax", "logsumexp")],
    *[(f"@.{name}(-1, keepdim=True)", lambda s: (*s[:-1], 1) if s else None) for name in ("sum", "mean", "amin")],
    ("@.var(-1, keepdim=True)", lambda s: (*s[:-1], 1) if s and s[-1] > 1 else None),
    *[(f"@.{name}()", lambda s: ()) for name in ("sum", "mean", "max")],
    ("@.transpose(0, -1)", lambda s: (s[-1], *s[1:-1], s[0]) if len(s) > 1 else None),
    ("@.reshape(-1)", lambda s: (math.prod(s),)),
    ("@.unsqueeze(0)", lambda s: (1, *s) if len(s) < 3 else None),
    ("@.unsqueeze(-1)", lambda s: (*s, 1) if len(s) < 3 else None),
    ("@[1:]", lambda s: (s[0] - 1, *s[1:]) if s and s[0] > 1 else None),
    ("@[..., ::2]", lambda s: (*s[:-1], -(-s[-1] // 2)) if s else None),
    ("@[0]", lambda s: s[1:] if s else None),
    ("@.select(-1, 0)", lambda s: s[:-1] if s else None),
    ("@.unbind(0)[-1]", lambda s: s[1:] if s else None),
    ("@[index]", lambda s: (3, *s[1:]) if s and s[0] > 2 else None),
    ("@.gather(1, tokens[:, None])", lambda s: (3, 1) if len(s) == 2 and s[0] == 3 and s[1] > 3 else None),
    ("@.expand(2, *@.shape)", lambda s: (2, *s) if len(s) < 3 else None),
    ("torch.cat([@, @ * 2], -1)", lambda s: (*s[:-1], 2 * s[-1]) if s and s[-1] < 20 else None),
    ("torch.stack([@, @ + 1], 1)", lambda s: (s[0], 2, *s[1:]) if 0 < len(s) < 3 else None),
    ("F.pad(@, (1, 0), value=0.5)", lambda s: (*s[:-1], s[-1] + 1) if s else None),
    ("torch.matmul(@, @.transpose(-1, -2))", _square),
    ("F.linear(@, weights[@.shape[-1]], bias)", lambda s: (*s[:-1], 4) if s else None),
    ("torch.einsum('ij,kj->ik', @, @)", lambda s: (s[0], s[0]) if len(s) == 2 else None),
    ("F.scaled_dot_product_attention(@, @, @, is_causal=True)", lambda s: s if len(s) == 3 else None),
    ("F.group_norm(@, 1)", _matrix),
    ("model(@)", lambda s: s if len(s) == 2 and s[1] == 4 and s[0] > 1 else None),
    ("F.embedding(tokens, table) + @.mean()", lambda s: (3, 4)),
    ("F.cross_entropy(@, tokens)", lambda s: () if len(s) == 2 and s[0] == 3 and s[1] > 3 else None),
    ("F.mse_loss(@, @.detach() * 0.5)", lambda s: ()),
    ("F.binary_cross_entropy_with_logits(@, torch.zeros_like(@))", lambda s: ()),
]
TWO = ["{} + {}", "{} - {}", "{} * {}", "{} / ({}.abs() + 1)", "torch.maximum({}, {})", "torch.add({}, {}, alpha=0.5)"]
WRITES = """
    @.mul_(0.5) | @[0] = @[-1] * 2 | @[..., 0] += 1 | @.select(0, 0).mul_(0.3) | @.clamp_(-1, 1) | @.copy_(@.flip(0)) | @.tanh_()
    @[-1].fill_(0.25) | @.transpose(0, -1)[0].add_(0.1) | @ *= 1.5 | @.relu_()
    """.replace("\n", "|").split("|")
BRANCHES = ["flag", "k > 2", "x.shape[0] > 2", "model.training", "options['wide']"]


def _broadcast(s: Shape, t: Shape) -> Shape | None:
    n = max(len(s), len(t))
    pairs = list(zip((1,) * (n - len(s)) + s, (1,) * (n - len(t)) + t, strict=True))
    return tuple(max(p) for p in pairs) if n < 4 and all(a == b or 1 in (a, b) for a, b in pairs) else None


class Drawing:
    """Draws statements; knows the names and shapes of what they have made."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.lines: list[str] = []
        self.indent = 1
        self.values: list[tuple[str, Shape]] = [("x", (3, 4)), ("y", (4,)), ("w", (3, 1))]
        self.count = 0

    def write(self, text: str) -> None:
        """A line."""
        self.lines.append("    " * self.indent + text)

    def made(self, text: str, shape: Shape) -> str:
        """A line that makes a value."""
        self.count += 1
        self.write(f"v{self.count} = {text}")
        self.values.append((f"v{self.count}", shape))
        return f"v{self.count}"

    def one(self) -> None:
        """A function of one value."""
        (name, shape), (text, after) = self.draw.choice(self.values), self.draw.choice(ONE)
        found = after(shape)
        if found is not None and 0 not in found:
            self.made(text.replace("@", name), found)

    def two(self) -> None:
        """A function of two values that broadcast."""
        (one, s), (other, t) = self.draw.choice(self.values), self.draw.choice(self.values)
        shape = _broadcast(s, t)
        if shape is not None:
            self.made(self.draw.choice(TWO).format(one, other), shape)

    def written(self) -> None:
        """A new value that is written in place."""
        name, shape = self.draw.choice(self.values)
        if shape:
            new = self.made(f"{name} * 1", shape)
            for text in self.draw.sample([each.strip() for each in WRITES if each.strip()], 2):
                self.write(text.replace("@", new))

    def state(self) -> None:
        """Memory that lasts is written, and read."""
        name, _ = self.draw.choice(self.values)
        self.write(f"state.mul_(0.9).add_({name}.detach().mean(), alpha=0.1)")
        self.made("state * 0.1", (4,))

    def branch(self) -> None:
        """A value that is one thing or another."""
        name, shape = self.draw.choice(self.values)
        self.count += 1
        new = f"v{self.count}"
        for head, text in ((f"if {self.draw.choice(BRANCHES)}:", "{} * 2"), ("else:", "{} + 1")):
            self.block(head)
            self.write(f"{new} = {text.format(name)}")
            self.indent -= 1
        self.values.append((new, shape))

    def loop(self) -> None:
        """The same again, as often as an argument says."""
        name, shape = self.draw.choice(self.values)
        new = self.made(name, shape)
        self.write(f"for i in range(k):\n{'    ' * self.indent}    {new} = torch.tanh({new} * (i + 1) * 0.5)")

    def without_gradients(self) -> None:
        """Something under no_grad."""
        self.block("with torch.no_grad():")
        self.write("pass")
        self.one()
        self.indent -= 1

    def lower(self) -> None:
        """A product under autocast."""
        self.block("with torch.autocast('cpu', dtype=torch.bfloat16):")
        self.made("F.linear(x, weights[4], bias).float()", (3, 4))
        self.indent -= 1

    def block(self, head: str) -> None:
        """The head of a block; what follows is inside."""
        self.write(head)
        self.indent += 1

    def text(self, trains: bool) -> str:
        """The function: a whole step, or one that gives a loss."""
        kinds = [
            self.one,
            self.two,
            self.written,
            self.state,
            self.branch,
            self.loop,
            self.without_gradients,
            self.lower,
        ]
        for _ in range(self.draw.randint(6, 12)):
            self.draw.choices(kinds, [9, 4, 2, 1, 2, 1, 1, 1])[0]()
        used = [name for name, _ in self.values[-5:]]
        self.write(f"loss = {' + '.join(f'torch.tanh({name}).mean()' for name in used)} + model(x).square().mean()")
        if trains:
            self.write("optimizer.zero_grad()")
            self.write("loss.backward()")
            self.write("torch.nn.utils.clip_grad_norm_(parameters, 0.5)")
            self.write("optimizer.step()")
        ends = [f"{name}.detach()" for name in used[-2:]] if trains else used[-2:]
        self.write(f"return loss{'.detach()' if trains else ''}, {', '.join(ends)}")
        return "def step(x, y, w, flag, k):\n" + "\n".join(self.lines) + "\n"
