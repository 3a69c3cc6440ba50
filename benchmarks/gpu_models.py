"""The models of the GPU benchmark, written once against PyTorch's API: `t` is clarion, or PyTorch itself."""

from __future__ import annotations

import math
from typing import Any


def gpt(t: Any, *, layers: int, heads: int, width: int, vocabulary: int, length: int) -> Any:
    """A GPT-2: learned positions, layers with the norm first, GELU in its tanh form, tied embedding."""
    nn, F = t.nn, t.nn.functional

    class Attention(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.joined = nn.Linear(width, 3 * width)
            self.out = nn.Linear(width, width)

        def forward(self, x: Any) -> Any:
            b, n, c = x.shape
            q, k, v = (
                part.view(b, n, heads, c // heads).transpose(1, 2) for part in self.joined(x).split(width, dim=2)
            )
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            return self.out(y.transpose(1, 2).contiguous().view(b, n, c))

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm1, self.attention = nn.LayerNorm(width), Attention()
            self.norm2, self.up, self.down = (
                nn.LayerNorm(width),
                nn.Linear(width, 4 * width),
                nn.Linear(4 * width, width),
            )

        def forward(self, x: Any) -> Any:
            x = x + self.attention(self.norm1(x))
            return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))

    class GPT(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.tokens, self.places = nn.Embedding(vocabulary, width), nn.Embedding(length, width)
            self.blocks = nn.ModuleList([Block() for _ in range(layers)])
            self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary, bias=False)
            self.head.weight = self.tokens.weight
            for name, p in self.named_parameters():
                if p.dim() > 1:
                    deep = name.endswith(("out.weight", "down.weight"))
                    nn.init.normal_(p, 0.0, 0.02 / math.sqrt(2 * layers) if deep else 0.02)

        def forward(self, ids: Any, targets: Any) -> Any:
            x = self.tokens(ids) + self.places(t.arange(ids.shape[1], device=ids.device))
            for block in self.blocks:
                x = block(x)
            scores = self.head(self.norm(x))
            return F.cross_entropy(scores.view(-1, scores.shape[-1]), targets.view(-1))

    return GPT()


def resnet(t: Any, *, width: int = 64, classes: int = 10) -> Any:
    """A network in the style of ResNet-18: four stages of two residual blocks."""
    nn, F = t.nn, t.nn.functional

    class Block(nn.Module):
        def __init__(self, inside: int, outside: int, stride: int) -> None:
            super().__init__()
            self.conv1 = nn.Conv2d(inside, outside, 3, stride, 1, bias=False)
            self.bn1 = nn.BatchNorm2d(outside)
            self.conv2 = nn.Conv2d(outside, outside, 3, 1, 1, bias=False)
            self.bn2 = nn.BatchNorm2d(outside)
            plain = stride == 1 and inside == outside
            self.short = (
                nn.Identity()
                if plain
                else nn.Sequential(nn.Conv2d(inside, outside, 1, stride, bias=False), nn.BatchNorm2d(outside))
            )

        def forward(self, x: Any) -> Any:
            y = F.relu(self.bn1(self.conv1(x)))
            return F.relu(self.bn2(self.conv2(y)) + self.short(x))

    class ResNet(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.stem = nn.Conv2d(3, width, 3, 1, 1, bias=False)
            self.norm = nn.BatchNorm2d(width)
            sizes = [(width, width, 1), (width, 2 * width, 2), (2 * width, 4 * width, 2), (4 * width, 8 * width, 2)]
            self.stages = nn.Sequential(*[nn.Sequential(Block(*s), Block(s[1], s[1], 1)) for s in sizes])
            self.head = nn.Linear(8 * width, classes)

        def forward(self, x: Any, targets: Any) -> Any:
            x = self.stages(F.relu(self.norm(self.stem(x))))
            return F.cross_entropy(self.head(F.adaptive_avg_pool2d(x, 1).flatten(1)), targets)

    return ResNet()
