"""Operations that programs declare, as modes and classes see them; `programs.py` runs this."""

from __future__ import annotations

from typing import Any


def declared(torch: Any, logging: Any, seen: list[Any], mode: Any, plain: Any) -> Any:
    """Below the graph an operation that a program declares goes by its own name, and its kernel is nobody's affair."""

    def cube(x: torch.Tensor, k: int = 3) -> torch.Tensor:
        return torch.from_numpy(x.numpy() ** k)

    cube.__annotations__ = {"x": torch.Tensor, "k": int, "return": torch.Tensor}
    op = torch.library.custom_op("seen::cube", cube, mutates_args=())
    op.register_autograd(
        lambda ctx, g: (g * 3 * ctx.saved_tensors[0] ** 2, None),
        setup_context=lambda ctx, inputs, output: ctx.save_for_backward(inputs[0]),
    )
    x, y, first, second, third = (
        logging(torch.arange(3.0), True),
        torch.ones(2, requires_grad=True),
        mode(),
        mode(),
        mode(),
    )
    seen.clear()
    result = op(x)
    told = seen[:]
    result.sum().backward()
    with first, second:
        plainly = op(y)
    plainly.sum().backward()
    seen.clear()
    z = logging(torch.ones(2))
    with third:
        op(z), torch.ops.seen.cube(z, 2)
    same = torch.ops.seen.cube.default is torch.ops.seen.cube.default
    return [
        plain(result), told, type(result.grad_fn).__name__, plain(x.grad), plain(y.grad),
        first.names, second.names, third.names, seen[:], same,
    ]  # fmt: skip
