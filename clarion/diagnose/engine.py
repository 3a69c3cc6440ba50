"""What the books and the rules ask of an engine, and nothing else: clarion's own answers, and so does PyTorch's.

An engine is a module that defines all of the functions below (`diagnose/engines/clarion.py`, `doctor/engine.py`). `use(it)`
binds them here, so that whoever asks writes `engine.node(tensor)`; what happens is told through `clarion/events.py`.

A *node* is an operation in the graph: hashable, weakly referenceable, with `seq` (younger nodes have smaller numbers),
`place` (the user's line), `code` (its code object), `edges` (per input a node, a leaf tensor or None), `nrs` (which output of the
edge's node it was; None: all 0) and `n_out`. An *operation* has a `name`, clarion's, and its traits. Values are given as
NumPy arrays, to be read only.

| question | answer |
|---|---|
| **tensors** | |
| is_tensor(x), is_node(x) | is it one? |
| node(t), output_number(t) | the node that made it (None: a leaf), and which of its outputs it is |
| requires_grad(t), grad(t), is_parameter(t) | as the words say; asking for the gradient is not told as `looked` |
| shape(t), size(t), kind(t), nbytes(t) | kind: "f", "c", "i", "u" or "b" |
| eps(t) | the resolution of its type near 1 |
| array(t), some(t, n) | its values; all of them, or, where they must be fetched from a device, about n |
| samples_soon(ts, n) | about n values of each, sent by a device: `read()` gives a list of arrays. None of those that must be waited for |
| number(t), late(t) | the one value of a tensor with one element; is it that of an earlier step (on a GPU, which is not waited for)? |
| memory(t), version(t) | a key for the memory it lies in; changes whenever somebody writes to it, openly or not |
| writes(t) | how many writes were counted |
| is_inference(t) | was it made in inference mode? |
| squares(gradients) | the squared norm of each; infinite or NaN where an element is; None of what cannot be read |
| finite_soon(x) | of raw values of a device: are all finite, as a number there? None of those that can be looked at without waiting, True of those that nobody can |
| letter(numbers) | numbers of a device, sent to the host; `read()` gives them |
| all_finite(t) | are all of its elements finite? |
| story(t), set_story(t, s) | what the ledger keeps beside it; goes with it |
| **nodes** | |
| traits(name) | what the operation of that name is: see `core/traits.py` |
| op(node), operation(node), title(node) | its operation or None, that one's name or "", and the name of its class |
| node_of(root) | the node of a tensor, of a GradientEdge, or the node itself |
| operands(node) | per input its value, or `LOST` |
| kept(node) | what it has saved: (node, output number) -> value |
| compute(node, operands) | its outputs, computed again; None if that cannot be done |
| saved_values(node) | (label, value) of what it has saved: label "input" or "output" |
| saved_memory(node) | (key, bytes, intermediate?) of the memory that it keeps |
| is_freed(node) | has a backward pass released what it had saved? |
| unfold(root) | show the operations of what was compiled behind it, one by one, where they are not shown yet |
| firing(node) | of a ReLU or the like: values that are above 0 where it lets through; None of others |
| dimension(node) | the dimension that a softmax runs over |
| borrowed(node) | saved arrays that NumPy may write to |
| knows_all_nodes | are nodes known that were made while nobody listened closely? |
| rest_after | steps after which the session rests: NOTE [Rest] in session.py |
| live() | all nodes and all tensors with a node that there are now |
| **the moment** | |
| recording(), inference() | are operations recorded; is this inference mode? |
| switched() | may recording be off? (cheap) |
| count_nodes() | changes with every node that is made |
| mark() | a number between those of the nodes made so far and those made later |
| here(), is_library(file) | the user's line that is running; is a file part of the library? |
| by_library() | is it a library of somebody else's that does what is being done, for the user's line? |
| hears_looks(file) | would every look at a gradient be heard of, in the code of a file? |
| roots_running(), node_running(), operand_running() | of the backward pass under way: its root nodes (None: there is none), the node whose gradient is computed; what a forward operation is working on |
| passes_untold() | backward passes since the last that was told, this one with them: at rest an engine need not tell each |
| count_steps() | steps that an engine has not told at rest are written into the stories of their optimizers now |
| expect_step(steps) | at rest, one of so many steps is to be told |
| expect_losses(limit) | at rest, a pass whose loss is beyond this is told |
| expect_widths(known, settled) | at rest, a pass before which another number of nodes was made than any of these is told (None: all are ordinary). Until so many passes are counted an engine asks that of all, then of some |
| width() | at rest: how many were made since the pass before (None: nobody counted), and how many passes were counted |
| glance(alike, pause) | at rest, nodes are counted after so many passes only, and a pass then is told, too, if `alike(its root)` is False (None: nobody asks). An engine may see to that otherwise |
| sketch(root) | what a graph is made of near its root (a node as `glance` hands it out), as something that can be compared, and weak references that show whether it is alive |
| expect_retained(usual) | at rest, a pass that keeps its graph is told, unless that is usual. An engine may leave it to its wakes |
| leave_untold(passes) | so many others need not be (an engine may choose itself) |
| decorates(mode) | the function that a gradient mode stands above as a decorator |
| mode_files | the files that enter and leave modes |
| quiet() | a context without floating-point warnings |
| undisturbed() | a context in which nobody hears what is done, and no random numbers are used up |
| watch(on, resting) | tell every operation, or no longer; the session rests, or no longer |
| custom_call(function, values, checked, state) | run a custom Function on arrays: outputs, and a function that gives gradients |
| random_state() | of the generator |
| missed(roots) | nodes behind these roots that were computed, in part at least, where no operation is told |
| unframed(roots) | the calls of modules (as in `graph/layers.py`) that have no frame, as they were compiled, the innermost first; with those that were compiled for themselves, and have one outside |
| layers() | the classes Module, Dropout, Norm, Recurrent, Attention, RReLU, Function |
| cost_of_recording() | seconds for one operation |
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

Tensor = Any
Node = Any
LOST: Final[Any] = object()  # a value that was not kept

_Question = Callable[..., Any]

is_tensor: _Question
is_node: _Question
node: _Question
output_number: _Question
late: _Question
requires_grad: _Question
grad: _Question
is_parameter: _Question
shape: _Question
size: _Question
kind: _Question
nbytes: _Question
eps: _Question
array: _Question
some: _Question
samples_soon: _Question
number: _Question
memory: _Question
version: _Question
writes: _Question
is_inference: _Question
squares: _Question
all_finite: _Question
finite_soon: _Question
letter: _Question
story: _Question
set_story: _Question
op: _Question
traits: _Question
operation: _Question
title: _Question
node_of: _Question
operands: _Question
kept: _Question
compute: _Question
saved_values: _Question
saved_memory: _Question
is_freed: _Question
unfold: _Question
firing: _Question
dimension: _Question
borrowed: _Question
live: _Question
knows_all_nodes: bool
rest_after: int
recording: _Question
inference: _Question
switched: _Question
mark: _Question
count_nodes: _Question
here: _Question
is_library: _Question
by_library: _Question
hears_looks: _Question
roots_running: _Question
node_running: _Question
operand_running: _Question
passes_untold: _Question
expect_losses: _Question
expect_widths: _Question
width: _Question
leave_untold: _Question
glance: _Question
sketch: _Question
expect_retained: _Question
count_steps: _Question
expect_step: _Question
decorates: _Question
mode_files: frozenset[str]
quiet: _Question
undisturbed: _Question
watch: _Question
custom_call: _Question
random_state: _Question
unframed: _Question
missed: _Question
layers: _Question
cost_of_recording: _Question

QUESTIONS = tuple(name for name in __annotations__ if not name.startswith("_") and name != "LOST")


current: Any = None  # the engine that answers


def use(implementation: Any) -> None:
    """Have an engine (a module) answer from now on."""
    global current
    current = implementation
    for question in QUESTIONS:
        globals()[question] = getattr(implementation, question)


def release() -> None:
    """What the engine fed is over: it still answers whoever reads the findings, and the next session chooses anew."""
    global current
    current = None
