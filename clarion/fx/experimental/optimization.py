"""`torch.fx.experimental.optimization`: graphs made smaller for inference: batch norms into convolutions, no dropout."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

from ...absent import rest
from ...nn import modules as nn
from ...nn.modules.module import Module
from ...nn.utils.fusion import fuse_conv_bn_eval
from .._symbolic_trace import symbolic_trace
from ..graph_module import GraphModule
from ..node import Node


def _parent_name(target: str) -> tuple[str, str]:
    """A path as that of the module around, and the name in it."""
    parent, _, name = target.rpartition(".")
    return parent, name


def matches_module_pattern(pattern: Iterable[type[Module]], node: Node, modules: dict[str, Any]) -> bool:
    """Is the node a call of a module of the last class, on a call of a module of the class before it?"""
    if not node.args:
        return False
    for kind, each in zip(pattern, (node.args[0], node), strict=True):
        if not isinstance(each, Node) or each.op != "call_module" or not isinstance(each.target, str):
            return False
        if each.target not in modules or type(modules[each.target]) is not kind:
            return False
    return True


def replace_node_module(node: Node, modules: dict[str, Any], new_module: Module) -> None:
    """Let a node call another module, under the same path."""
    if not isinstance(node.target, str):
        raise AssertionError(f"Expected a path, got {node.target}")
    parent, name = _parent_name(node.target)
    modules[node.target] = new_module
    setattr(modules[parent], name, new_module)


def fuse(model: Module, inplace: bool = False, no_trace: bool = False) -> GraphModule:
    """Fold batch norms, as they are in eval mode, into the convolutions before them."""
    patterns = [(nn.Conv1d, nn.BatchNorm1d), (nn.Conv2d, nn.BatchNorm2d), (nn.Conv3d, nn.BatchNorm3d)]
    if not inplace:
        model = copy.deepcopy(model)
    traced = model if no_trace and isinstance(model, GraphModule) else symbolic_trace(model)
    modules = dict(traced.named_modules())
    graph = copy.deepcopy(traced.graph)
    for pattern in patterns:
        for node in graph.nodes:
            if not matches_module_pattern(pattern, node, modules) or len(node.args[0].users) > 1:
                continue
            conv, norm = modules[node.args[0].target], modules[node.target]
            if not norm.track_running_stats:
                continue
            replace_node_module(node.args[0], modules, fuse_conv_bn_eval(conv, norm))
            node.replace_all_uses_with(node.args[0])
            graph.erase_node(node)
    return GraphModule(traced, graph)


def remove_dropout(model: Module) -> Module:
    """The model without its dropout layers."""
    traced = symbolic_trace(model)
    graph = traced.graph
    for node in graph.nodes:
        if node.op == "call_module" and isinstance(traced.get_submodule(str(node.target)), nn.Dropout):
            node.replace_all_uses_with(node.args[0])
            graph.erase_node(node)
    return GraphModule(traced, graph)


def extract_subgraph(orig_module: Module, nodes: list[Node], inputs: list[Node], outputs: list[Node]) -> GraphModule:
    """Some nodes of a module's graph as a module: from the results of `inputs` to those of `outputs`."""
    from ..graph import Graph

    graph = Graph()
    standing: dict[Node, Node] = {each: graph.placeholder(each.name) for each in inputs}
    for node in nodes:
        standing[node] = graph.node_copy(node, lambda each: standing[each])
    graph.output([standing[each] for each in outputs])
    graph.lint()
    return GraphModule(orig_module, graph)


__getattr__ = rest(__name__)
