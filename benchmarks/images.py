"""Training steps of networks for images: residual, of separable convolutions, of a diffusion model."""

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
