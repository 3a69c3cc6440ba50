"""Networks for images: residual, of separable convolutions, of a diffusion model, and what they say of some images."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .harness import workload
from .training import train


def _convolved(t: Any, before: int, after: int, size: int = 3, **options: Any) -> list[Any]:
    return [t.nn.Conv2d(before, after, size, padding=size // 2, bias=False, **options), t.nn.BatchNorm2d(after)]


def _added(t: Any, body: Any, beside: Any) -> Any:
    class Added(t.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.body, self.beside = body, beside

        def forward(self, x: Any) -> Any:
            return self.body(x) + self.beside(x)

    return Added()


def _residual(t: Any, before: int, after: int, stride: int) -> list[Any]:
    nn = t.nn
    body = nn.Sequential(*_convolved(t, before, after, stride=stride), nn.ReLU(), *_convolved(t, after, after))
    beside = nn.Identity() if before == after else nn.Sequential(*_convolved(t, before, after, 1, stride=stride))
    return [_added(t, body, beside), nn.ReLU()]


def _classify(t: Any, layers: list[Any], channels: int, x: Any) -> Callable[[], object]:
    nn = t.nn
    model = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 10))
    y = t.randint(0, 10, (x.shape[0],))
    return train(t, model, lambda: nn.functional.cross_entropy(model(x), y))


@workload
def resnet_training(t: Any) -> Callable[[], object]:
    """A residual network of 13 convolutions, 16 images of 32 x 32."""
    t.manual_seed(0)
    layers = [*_convolved(t, 3, 16), t.nn.ReLU()]
    for before, after in ((16, 16), (16, 32), (32, 64)):
        layers += _residual(t, before, after, 1 if before == after else 2) + _residual(t, after, after, 1)
    return _classify(t, layers, 64, t.randn(16, 3, 32, 32))


@workload
def mobilenet_training(t: Any) -> Callable[[], object]:
    """Inverted residuals: depthwise convolutions between those of one pixel."""
    t.manual_seed(0)
    nn = t.nn
    layers = [*_convolved(t, 3, 16, stride=2), nn.ReLU6()]
    for channels, stride in ((16, 1), (16, 1)):
        wide = 4 * channels
        body = nn.Sequential(
            *_convolved(t, channels, wide, 1), nn.ReLU6(), *_convolved(t, wide, wide, stride=stride, groups=wide),
            nn.ReLU6(), *_convolved(t, wide, channels, 1),
        )  # fmt: skip
        layers.append(_added(t, body, nn.Identity()))
    return _classify(t, layers, 16, t.randn(8, 3, 48, 48))


@workload
def unet_training(t: Any) -> Callable[[], object]:
    """A small U-Net as in diffusion models: group normalization, SiLU, one level down and up."""
    t.manual_seed(0)
    nn = t.nn

    def block(before: int, after: int) -> Any:
        body = [nn.GroupNorm(8, before), nn.SiLU(), nn.Conv2d(before, after, 3, padding=1)]
        body += [nn.GroupNorm(8, after), nn.SiLU(), nn.Conv2d(after, after, 3, padding=1)]
        return _added(t, nn.Sequential(*body), nn.Identity() if before == after else nn.Conv2d(before, after, 1))

    below = nn.Sequential(nn.Conv2d(32, 64, 3, 2, 1), block(64, 64), nn.Upsample(scale_factor=2), nn.Conv2d(64, 32, 1))
    model = nn.Sequential(
        nn.Conv2d(3, 32, 3, padding=1), block(32, 32), _added(t, below, nn.Identity()), nn.Conv2d(32, 3, 1)
    )
    x, noise = t.randn(4, 3, 32, 32), t.randn(4, 3, 32, 32)
    return train(t, model, lambda: nn.functional.mse_loss(model(x), noise))


@workload
def mobilenet_inference(t: Any) -> Callable[[], object]:
    """The last blocks of MobileNet v3: small images of many channels, squeezed and excited, activations in place."""
    t.manual_seed(0)
    nn = t.nn

    class Excited(nn.Module):  # type: ignore[misc]
        def __init__(self, channels: int) -> None:
            super().__init__()
            self.down, self.up = nn.Conv2d(channels, channels // 4, 1), nn.Conv2d(channels // 4, channels, 1)

        def forward(self, x: Any) -> Any:
            seen = self.up(nn.functional.relu(self.down(x.mean((2, 3), keepdim=True)), inplace=True))
            return x * nn.functional.hardsigmoid(seen)

    layers = []
    for channels, wide, stride in ((24, 96, 2), (40, 240, 1), (40, 240, 2), (96, 576, 1)):
        layers += [*_convolved(t, channels, wide, 1), nn.Hardswish(inplace=True)]
        layers += [*_convolved(t, wide, wide, 5, stride=stride, groups=wide), nn.Hardswish(inplace=True), Excited(wide)]
        layers += _convolved(t, wide, {24: 40, 40: 40 if stride == 1 else 96, 96: 96}[channels], 1)
    return _seen(t, layers, t.randn(8, 24, 8, 8))


@workload
def convnext_inference(t: Any) -> Callable[[], object]:
    """Two blocks of ConvNeXt: depthwise convolutions of 7 x 7, channels normed, two layers for each pixel."""
    t.manual_seed(0)
    nn = t.nn

    class Block(nn.Module):  # type: ignore[misc]
        def __init__(self, channels: int) -> None:
            super().__init__()
            self.around = nn.Conv2d(channels, channels, 7, padding=3, groups=channels)
            self.norm, self.up, self.down = (
                nn.LayerNorm(channels),
                nn.Conv2d(channels, 320, 1),
                nn.Conv2d(320, channels, 1),
            )

        def forward(self, x: Any) -> Any:
            y = self.norm(self.around(x).permute(0, 2, 3, 1)).permute(0, 3, 1, 2)
            return x + self.down(nn.functional.gelu(self.up(y)))

    return _seen(t, [Block(80), Block(80)], t.randn(1, 80, 28, 28))


def _seen(t: Any, layers: list[Any], x: Any) -> Callable[[], object]:
    model = t.nn.Sequential(*layers).eval()

    def step() -> object:
        with t.no_grad():
            return model(x)

    return step


@workload
def convolutions_autocast(t: Any) -> Callable[[], object]:
    """Training of three convolutions under autocast, in bfloat16."""
    t.manual_seed(0)
    nn = t.nn
    sizes = ((3, 32, 1), (32, 64, 2), (64, 64, 1))
    body = nn.Sequential(*[nn.Sequential(nn.Conv2d(c, o, 3, s, 1), nn.ReLU()) for c, o, s in sizes])
    model = nn.Sequential(body, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10))
    x, y = t.randn(16, 3, 32, 32), t.randint(0, 10, (16,))

    def loss() -> Any:
        with t.autocast("cpu", dtype=t.bfloat16):
            return nn.functional.cross_entropy(model(x), y)

    return train(t, model, loss)
