"""Work on graphs: each program returns what can be compared: texts, names, values."""

from __future__ import annotations

import copy
import importlib
import operator
import pickle
from collections.abc import Callable
from typing import Any

from .programs import functional, module

Edit = Callable[[Any, Any], Any]
EDITS: dict[str, Edit] = {}


def edit(work: Edit) -> Edit:
    """Put a program on the list."""
    EDITS[work.__name__] = work
    return work


def refusal(work: Callable[[], Any]) -> str:
    """The first line of what an exception says."""
    try:
        return f"no exception: {work()}"
    except Exception as error:
        return str(error).split("\n")[0].replace("clarion", "torch")


def model(torch: Any) -> Any:
    """A module with a function, a layer, a parameter and a method."""
    parts = {"param": torch.nn.Parameter(torch.rand(3, 4)), "linear": torch.nn.Linear(4, 5)}
    return module(torch, lambda self, x: torch.relu(self.linear(x + self.param)).sum(dim=-1), **parts)


@edit
def another_function(torch: Any, fx: Any) -> Any:
    gm = fx.symbolic_trace(model(torch))
    for node in gm.graph.nodes:
        if node.target is torch.relu:
            node.target = torch.sigmoid
    before = gm.code
    gm.recompile()
    return before, gm.code, gm(torch.ones(3, 4))


@edit
def a_step_more(torch: Any, fx: Any) -> Any:
    gm = fx.symbolic_trace(model(torch))
    for node in list(gm.graph.nodes):
        if node.op == "call_module":
            with gm.graph.inserting_after(node):
                new = gm.graph.call_function(torch.mul, args=(node, 2))
            node.replace_all_uses_with(new)
            new.update_arg(0, node)
            new.insert_arg(2, 0)
            new.args = new.args[:2]
    gm.graph.lint()
    gm.recompile()
    return gm.code, str(gm.graph), gm(torch.ones(3, 4))


@edit
def a_step_less(torch: Any, fx: Any) -> Any:
    gm = fx.symbolic_trace(model(torch))
    node = gm.graph.find_nodes(op="call_function", target=torch.relu)[0]
    refused = refusal(lambda: gm.graph.erase_node(node))
    users = node.replace_all_uses_with(node.args[0])
    gm.graph.erase_node(node)
    gm.recompile()
    return refused, [str(each) for each in users], gm.code, len(gm.graph.nodes), gm(torch.ones(3, 4))


@edit
def proxies_by_hand(torch: Any, fx: Any) -> Any:
    F = functional(torch)
    gm = fx.symbolic_trace(model(torch))
    graph, values = fx.Graph(), {}
    for node in gm.graph.nodes:
        if node.target is torch.relu:
            x = fx.Proxy(values[node.args[0]])
            values[node] = ((x > 0) * x + F.elu(x, alpha=0.5)).node
        else:
            values[node] = graph.node_copy(node, lambda each: values[each])
    made = fx.GraphModule(gm, graph)
    return made.code, made(torch.ones(3, 4))


@edit
def a_graph_by_hand(torch: Any, fx: Any) -> Any:
    graph = fx.Graph()
    x = graph.placeholder("x")
    y = graph.placeholder("y", type_expr=int, default_value=None)
    weight = graph.get_attr("sub.weight")
    product = graph.call_function(torch.mm, (x, weight))
    total = graph.call_method("sum", (product,), {"dim": 0})
    layer = graph.call_module("sub.layer", (total,))
    graph.output((layer, y))
    gm = fx.GraphModule({"sub.weight": torch.ones(2, 2), "sub.layer": torch.nn.Linear(2, 1)}, graph)
    return gm.code, str(gm.graph), [name for name, _ in gm.named_parameters()], gm(torch.ones(2, 2), 3)


@edit
def steps_that_nobody_uses(torch: Any, fx: Any) -> Any:
    def forward(x: Any) -> Any:
        y = x + 1
        y.relu()
        torch._assert(x.sum() > 0, "positive")
        y * 2
        return x, torch.ones(2)

    gm = fx.symbolic_trace(forward)
    changed = gm.graph.eliminate_dead_code()
    gm.recompile()
    return changed, gm.code, gm.graph.eliminate_dead_code()


@edit
def patterns(torch: Any, fx: Any) -> Any:
    def forward(x: Any, w1: Any, w2: Any) -> Any:
        m1 = torch.cat([w1, w2]).sum()
        m2 = torch.cat([w2, w1]).sum()
        return x + torch.max(m1) + torch.max(m2)

    gm = fx.symbolic_trace(forward)
    found = fx.replace_pattern(gm, lambda a, b: torch.cat([a, b]).sum(), lambda a, b: torch.stack([a, b]).mean())
    gm.graph.lint()
    return gm.code, [str(match.anchor) for match in found], gm(torch.ones(2), torch.ones(2), torch.zeros(2))


@edit
def overlapping_patterns(torch: Any, fx: Any) -> Any:
    gm = fx.symbolic_trace(lambda x: torch.relu(torch.neg(torch.neg(torch.neg(torch.neg(x))))) + torch.sigmoid(x))
    found = fx.replace_pattern(gm, lambda x: torch.neg(torch.neg(x)), lambda x: x.positive())
    return gm.code, len(found), gm(torch.ones(2))


@edit
def patterns_that_are_not_there(torch: Any, fx: Any) -> Any:
    gm = fx.symbolic_trace(lambda x: torch.neg(x) + torch.neg(x).relu())
    found = fx.replace_pattern(gm, lambda x: torch.neg(x).sigmoid(), lambda x: x)
    return gm.code, len(found)


@edit
def an_interpreter(torch: Any, fx: Any) -> Any:
    class Louder(fx.Interpreter):  # type: ignore[name-defined, misc]
        seen: list[str] = []

        def run_node(self, n: Any) -> Any:
            self.seen.append(n.name)
            return super().run_node(n)

        def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
            return super().call_function(torch.sigmoid if target is torch.relu else target, args, kwargs)

    Louder.seen = []
    gm = fx.symbolic_trace(model(torch))
    wrong = refusal(lambda: Louder(gm).run())
    Louder.seen = []
    return Louder(gm).run(torch.ones(3, 4)), Louder.seen, wrong


@edit
def a_transformer(torch: Any, fx: Any) -> Any:
    class Change(fx.Transformer):  # type: ignore[name-defined, misc]
        def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
            return super().call_function(torch.tanh if target is torch.relu else target, args, kwargs)

        def call_method(self, target: Any, args: Any, kwargs: Any) -> Any:
            return super().call_method("mean" if target == "sum" else target, args, kwargs)

    made = Change(fx.symbolic_trace(model(torch))).transform()
    return made.code, made(torch.ones(3, 4)), list(made.state_dict())


@edit
def a_tracer(torch: Any, fx: Any) -> Any:
    class Deep(fx.Tracer):  # type: ignore[name-defined, misc]
        def is_leaf_module(self, m: Any, module_qualified_name: str) -> bool:
            return False

    F = functional(torch)
    net = torch.nn.Sequential(
        torch.nn.Linear(4, 4), torch.nn.LayerNorm(4), torch.nn.ReLU(), torch.nn.Conv1d(3, 2, 1), torch.nn.GELU()
    )
    graph = Deep().trace(net)
    assert F is not None
    gm = fx.GraphModule(net, graph)
    return gm.code, gm(torch.ones(2, 3, 4)), list(gm.state_dict())


@edit
def known_arguments(torch: Any, fx: Any) -> Any:
    def forward(x, double=True, more=None):  # type: ignore[no-untyped-def]
        return x * 2 if double else x

    gm = fx.symbolic_trace(forward, concrete_args={"double": False, "more": None})
    return gm.code, gm(torch.ones(2), False), refusal(lambda: gm(torch.ones(2), True))


@edit
def nested_arguments(torch: Any, fx: Any) -> Any:
    def forward(x, tree):  # type: ignore[no-untyped-def]
        return {"sum": x + tree["a"], "rest": [tree["b"][0], tree["b"][1] * 2]}

    gm = fx.symbolic_trace(forward, concrete_args={"tree": {"a": fx.PH, "b": [fx.PH, fx.PH]}})
    ones = torch.ones(2)
    return gm.code, gm(ones, {"a": ones, "b": [ones, ones * 3]}), str(gm.graph)


@edit
def pickled(torch: Any, fx: Any) -> Any:
    gm = fx.symbolic_trace(torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Tanh()))
    back = pickle.loads(pickle.dumps(gm))
    return back.code, back(torch.ones(2, 4)), list(back.state_dict()), type(back).__name__


@edit
def copied(torch: Any, fx: Any) -> Any:
    gm = fx.symbolic_trace(model(torch))
    gm.meta["kept"] = 1
    twin = copy.deepcopy(gm)
    next(iter(twin.graph.nodes)).name = "renamed"
    return twin.meta, gm.param is twin.param, gm.code, str(twin.graph), twin(torch.ones(3, 4)), type(twin).__name__


@edit
def modules_of_a_graph(torch: Any, fx: Any) -> Any:
    gm = fx.symbolic_trace(model(torch))
    added = gm.add_submodule("deep.down", torch.nn.ReLU())
    names = [name for name, _ in gm.named_modules()]
    gm.delete_all_unused_submodules()
    return added, names, [name for name, _ in gm.named_modules()], gm.delete_submodule("nowhere")


@edit
def shapes_of_results(torch: Any, fx: Any) -> Any:
    passes = importlib.import_module(f"{torch.__name__}.fx.passes.shape_prop")
    gm = fx.symbolic_trace(model(torch))
    passes.ShapeProp(gm).propagate(torch.ones(3, 4))
    return [
        (node.name, [str(part) for part in node.meta["tensor_meta"][:5]]) for node in gm.graph.nodes if "tensor_meta" in node.meta
    ]  # fmt: skip


@edit
def convolutions_with_norms(torch: Any, fx: Any) -> Any:
    optimization = importlib.import_module(f"{torch.__name__}.fx.experimental.optimization")
    nn = torch.nn
    net = nn.Sequential(nn.Conv2d(2, 3, 1), nn.BatchNorm2d(3), nn.ReLU(), nn.Conv2d(3, 3, 1), nn.Dropout(0.5)).eval()
    net[1].running_mean.fill_(0.5)
    net[1].running_var.fill_(2.0)
    fused, dry = optimization.fuse(net), optimization.remove_dropout(net)
    return fused.code, fused(torch.ones(1, 2, 2, 2)), dry.code, list(fused.state_dict())


@edit
def nodes(torch: Any, fx: Any) -> Any:
    gm = fx.symbolic_trace(lambda x, y: torch.add(x, y, alpha=2) * [x, (y, 2)][0])
    x, y, add, mul, out = gm.graph.nodes
    seen: list[str] = []
    fx.node.map_arg((mul.args, {"a": [add]}, slice(x, None)), lambda node: seen.append(node.name))
    add.meta["note"] = 1
    add.update_kwarg("alpha", 3)
    mul.replace_input_with(x, y)
    order = (x < add, out < x, add.next.name, add.prev.name, [str(each) for each in mul.all_input_nodes])
    add._rename("better") if hasattr(add, "_rename") else None
    changes = [
        refusal(lambda: operator.setitem(fx.immutable_collections.immutable_list([1]), 0, 2)),
        refusal(lambda: mul.kwargs.update(a=1)),
    ]
    return seen, order, add.kwargs, mul.format_node(), changes, str(gm.graph)


@edit
def texts_through_a_function(torch: Any, fx: Any) -> Any:
    gm = fx.symbolic_trace(lambda x: x + 1)
    gm.graph.on_generate_code(lambda before: lambda body: ["x = x * 2\n", *(before(body) if before else body)])
    gm.recompile()
    return gm.code, gm(torch.ones(2))


@edit
def refusals(torch: Any, fx: Any) -> Any:
    other = fx.Graph()
    graph = fx.Graph()
    x = graph.placeholder("x")
    stranger = other.placeholder("y")
    stray = graph.call_function(torch.relu, (stranger,))
    told = [
        refusal(lambda: graph.lint()), refusal(lambda: graph.create_node("wrong", "x")), refusal(lambda: x.append(stranger)),
        refusal(lambda: graph.inserting_before(stranger)), refusal(lambda: fx.wrap(3)), refusal(lambda: fx.GraphModule(3, fx.Graph())),
        refusal(lambda: setattr(fx.symbolic_trace(lambda x: x), "graph", 3)), refusal(lambda: fx.symbolic_trace(lambda x: x if x else 1)),
        refusal(lambda: fx.symbolic_trace(lambda x: list(x))), refusal(lambda: fx.symbolic_trace(lambda x: len(x))),
        refusal(lambda: fx.symbolic_trace(lambda x: {x: 1})), refusal(lambda: fx.symbolic_trace(lambda x: object())),
        refusal(lambda: fx.symbolic_trace(lambda x: int(x))), refusal(lambda: fx.GraphModule({}, a_graph_with_a_weight(fx))),
    ]  # fmt: skip
    return told, str(stray)


def a_graph_with_a_weight(fx: Any) -> Any:
    """A graph that asks for something nobody holds."""
    graph = fx.Graph()
    graph.output(graph.get_attr("weight"))
    return graph
