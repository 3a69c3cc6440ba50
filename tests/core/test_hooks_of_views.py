"""Hooks on a view whose base was written since it was taken: the node that it has now is the one that counts."""

from __future__ import annotations

import clarion as torch


def test_a_hook_on_a_view_that_is_behind_its_base_is_called():
    x, seen = torch.ones(3, requires_grad=True), []
    base = x * 1
    view = base[:2]
    base.mul_(3)
    view.register_hook(lambda g: seen.append(g.tolist()))
    (view * 2).sum().backward()
    assert seen == [[2.0, 2.0]]
    assert x.grad.tolist() == [6.0, 6.0, 0.0]


def test_a_view_that_came_to_require_a_gradient_takes_a_hook():
    base = torch.ones(3)
    view, seen = base[:2], []
    base.mul_(torch.ones(3, requires_grad=True))
    view.register_hook(lambda g: seen.append(g.tolist()))
    view.sum().backward()
    assert seen == [[1.0, 1.0]]
