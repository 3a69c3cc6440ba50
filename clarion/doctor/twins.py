"""What happens inside of what `torch.compile` made, told by a twin.

NOTE [Twins]: Dynamo hands each graph that it has read to a backend, as a list of PyTorch's own functions with the user's lines. What the
backend makes of it tells nothing. So we keep the list; in steps that are listened to closely the graph is run a second time
beside the compiled one, function by function, and heard as any program is. It has no effects of its own: Dynamo has taken out
whatever is not a function of tensors, random numbers are drawn as the compiled graph drew them and put back, and what the
graph writes to is copied before. The program goes on with what the compiled graph gave. Whoever asks where that came from is led
to the twin (`nodes.seen_as`), whose nodes lie in the `metadata` of the compiled one's, and go with it.
"""

from __future__ import annotations

import contextlib
import functools
import sys
import weakref
from collections.abc import Iterator
from typing import Any

import torch

from ..errors import DiagnosisError, DiagnosisWarning
from ..events import hub
from . import engine, hearing, lines, listening, marks, modes, nodes, patching, values
from .nodes import held
from .reruns import Run, Twin
from .telling import guarded, uncompiled
from .vocabulary import named

wanted = False  # is what is compiled and runs now to be heard?
noted = False  # or at least remembered?
_CALL = "clarion's call"


def start(patch: Any) -> None:
    """Patch the place where Dynamo hands a graph to its backend."""
    from torch._dynamo.output_graph import OutputGraph

    def handing(original: Any) -> Any:
        @functools.wraps(original)
        def call_user_compiler(self: Any, gm: Any, *args: Any, **kwargs: Any) -> Any:
            twin = _twin_of(self, gm, marks.taken(self, gm.graph))
            try:
                made = original(self, gm, *args, **kwargs)
            except Exception as error:
                if twin is not None and "modified by an inplace operation" in str(error):
                    _refused[:] = [(twin, gm, error)]
                raise
            return made if twin is None else _beside(made, twin)

        return call_user_compiler

    patch(OutputGraph, "call_user_compiler", handing)


_refused: list[tuple[Twin, Any, Exception]] = []  # what could not be compiled


def explain() -> None:
    """A backend differentiates what it compiles, and found that it cannot be: the twin, given anything, shows why."""
    if not _refused or hub.refused is None:
        return
    twin, gm, error = _refused.pop()
    try:
        given = [_imitation(node.meta.get("example_value")) for node in gm.graph.nodes if node.op == "placeholder"]
        with _random_as(_random_states()), _heard(), _recording_kept():
            found = Run(twin).run(*given)
        differentiate([t.sum() for t in hearing.tensors_in(found) if t.requires_grad], error)
    except (DiagnosisError, DiagnosisWarning):
        raise
    except Exception:  # nothing to learn from it
        return


differentiate: Any = None  # tells why that is refused (backward.py)


def _imitation(example: Any) -> Any:
    """A tensor like the one that Dynamo imagines."""
    if not isinstance(example, torch.Tensor):
        return int(example) if isinstance(example, torch.SymInt) else example
    made = torch.zeros([int(n) for n in example.shape], dtype=example.dtype, device=example.device)
    made.requires_grad_(example.requires_grad)
    return made if example.is_leaf else made.view_as(made)  # what was computed may be written to


def _twin_of(output: Any, gm: Any, noted: list[Any]) -> Twin | None:
    """None where the graph is not only called: it is exported, or written to a file."""
    if getattr(output, "export", False) or getattr(output, "package", None) is not None:
        return None
    try:
        return Twin(output, gm, noted)
    except Exception:  # what Dynamo keeps differs from version to version
        return None


def _beside(made: Any, twin: Twin) -> Any:
    @functools.wraps(made)
    def call(*args: Any, **kwargs: Any) -> Any:
        if held.handling or held.aside or listening.stands_aside():
            return made(*args, **kwargs)
        if twin.marks:
            marks.scopes = twin.scopes(sys._getframe(1))
        try:
            return _heard_beside(made, twin, args, kwargs)
        finally:
            marks.scopes = {}, {}

    return call


def _heard_beside(made: Any, twin: Twin, args: Any, kwargs: Any) -> Any:
    global wanted
    wanted = wanted or (noted and is_asked())  # the session may have begun to listen since the compiled function did
    this = None
    if noted and not patching.resting and not kwargs and not twin.failed:
        try:
            this = Call(twin, args)
        except Exception:  # arguments of a kind that we do not know
            twin.failed = True
    later = list(twin.marks)
    if this is None or not wanted:
        _tell(later, this is not None)  # otherwise the twin does, where they belong
    try:
        results = made(*args, **kwargs)
    except RuntimeError as error:
        if "Inference tensor" in str(error):
            _refused_inference(twin, args, error)
        raise
    if this is not None and not twin.failed:
        try:
            this.made(args, results, later)
        except (DiagnosisError, DiagnosisWarning):
            raise
        except Exception:
            twin.failed = True
    _tell(later)
    modes.ended()
    return results


def _refused_inference(twin: Twin, args: Any, error: Any) -> None:
    i = next((i for i, t in enumerate(args) if isinstance(t, torch.Tensor) and t.is_inference()), None)
    if i is not None:
        twin.user_of(i)(guarded(hearing.refused_inference), (error, [args[i]], {}), {})


def _tell(later: list[Any], may_listen: bool = False) -> None:
    """Tell marks; until one makes the session listen closely, and the call can still be heard."""
    global wanted
    if later:
        with _recording_kept():
            while later:
                later.pop(0).tell()
                if may_listen and is_asked():
                    wanted = True
                    return


def is_asked() -> bool:
    """Replaced by `watching`: does the session want to hear every call?"""
    return False


class Call:
    """One call of what was compiled: what it was given, and which of its results are outputs of which node."""

    def __init__(self, twin: Twin, args: Any) -> None:
        self.twin = twin
        self.given: Any = twin.given(args)  # None later: NOTE [Old calls]
        self.began = torch.autograd._get_sequence_nr()
        self.random = _random_states()
        self.versions = [_version(t) for t in args]
        self.outputs: dict[int, int] = {}

    def made(self, args: Any, results: Any, later: list[Any]) -> None:
        """What was compiled has run: now the twin, if somebody listens. It tells the marks."""
        written = {i for i, t in enumerate(args) if _version(t) != self.versions[i]} - self.twin.written
        self.twin.written |= written  # noticed too late for this call
        if written or self.twin.failed or not isinstance(results, (tuple, list)):
            return
        if wanted:
            self._listen(args, results, later, self.twin.scopes(sys._getframe(3)))
        if torch.is_grad_enabled() and not any(torch.is_autocast_enabled(device) for device in ("cpu", "cuda")):
            guarded(self._note)(results)

    def _listen(self, args: Any, results: Any, later: list[Any], scopes: Any) -> None:
        guarded(_tell_unknown)(args)
        old = {i: self.given[i] for i in self.twin.written}
        with _random_as(self.random), _as_before(args, old), _heard(), _recording_kept():
            before = torch.autograd._get_sequence_nr()
            try:
                found = Run(self.twin, scopes=scopes, later=later).run(*args)
            except (DiagnosisError, DiagnosisWarning):
                raise
            except Exception:  # nothing to learn from it
                self.twin.failed = True
            else:
                guarded(_linked)(found, results, self.began, before)

    def _note(self, results: Any) -> None:
        """Remember it, beside its node."""
        first = next((t.grad_fn for t in results if _is_made(t, self.began)), None)
        if first is not None:
            self.outputs = {
                t.output_nr: i for i, t in enumerate(results) if isinstance(t, torch.Tensor) and t.grad_fn is first
            }
            first.metadata[_CALL] = self
            _calls[1].append(weakref.ref(self))
            nodes.view_of(first).place = self.twin.place or lines.here()

    def again(self, apart: bool) -> tuple[Any, list[Any]]:
        """Run the twin once more, unheard; `apart` from the rest of the graph. What it gives, and its inputs that have a gradient."""
        given, inputs = self.given, []
        if apart:
            given = [t.detach().requires_grad_() if _has_gradient(t) else t for t in given]
            inputs = [t for t in given if _has_gradient(t)]
        with _random_as(self.random), torch.enable_grad(), _recording_kept():
            return Run(self.twin, heard=False).run(
                *[t.clone() if i in self.twin.written else t for i, t in enumerate(given)]
            ), inputs


def _tell_unknown(args: Any) -> None:
    """Between two graphs something ran unheard: whatever left the graph meanwhile may have come back in what it gave."""
    for t in args if hub.entered is not None else ():
        if isinstance(t, torch.Tensor) and t.grad_fn is not None and not nodes.is_known(t.grad_fn):
            hub.entered(t, None)  # type: ignore[misc]


# NOTE [Old calls]: what a call was given is of no use once the parameters are others. And it must not be kept: where the program
# writes to it later, it comes from the call's own node, and that cycle would never be freed.
_calls: list[list[weakref.ref[Call]]] = [[], []]  # of the step before, and of this one


def stepped() -> None:
    """The parameters are others now."""
    global ran
    ran = False
    for reference in _calls.pop(0):
        call = reference()
        if call is not None:
            call.given = None
    _calls.append([])


def _is_made(t: Any, began: int) -> bool:
    """Was this result computed since then, and not only handed through?"""
    return isinstance(t, torch.Tensor) and t.grad_fn is not None and t.grad_fn._sequence_nr() >= began


def _has_gradient(t: Any) -> bool:
    return isinstance(t, torch.Tensor) and t.requires_grad


def _version(t: Any) -> int:
    return int(t._version) if isinstance(t, torch.Tensor) and not t.is_inference() else 0


def summon(roots: Any) -> None:
    """Whatever was compiled behind these tensors gets its twin: something there is not finite, or is to be looked at."""
    for fn in nodes.compiled_behind(roots, _CALL):
        call = fn.metadata[_CALL]
        if call.given is not None and not call.twin.failed and not nodes.has_twins(fn):
            before = torch.autograd._get_sequence_nr()
            try:
                found, _ = call.again(apart=False)
            except Exception:
                call.twin.failed = True
                continue
            _as_old_as(fn, [view for view in nodes.in_order(found) if view.seq <= -before])
            for number, i in call.outputs.items():
                if found[i].grad_fn is not None:
                    nodes.stand_for(fn, number, found[i])
            nodes.look_again()


def _as_old_as(fn: Any, views: list[Any]) -> None:
    """They come later than what was computed from that which they stand for: let them be in its place."""
    for i, view in enumerate(views):  # the youngest first
        view.seq = i / len(views) - fn._sequence_nr()


def _unfold(root: Any) -> None:
    if noted and isinstance(root, torch.Tensor):
        summon([root])


engine.unfold = _unfold

ran = False  # has anything compiled run in this step?


def _missed(roots: Any) -> list[Any]:
    """Where Dynamo has given up, functions run as they are written, and nobody hears of it; nor of what was compiled before us."""
    return [view for view in nodes.in_order(roots) if view._place is None and not view.twin] if ran else []


engine.missed = _missed


def watch_pass(roots: Any, tell: Any) -> list[Any]:
    """Hooks for a backward pass: where what was compiled breaks a gradient, its twin shows which operation does.

    `tell(view, results, gradients)` is called of each of the twin's nodes.
    """
    hooks = []
    for fn in nodes.compiled_behind(roots, _CALL):
        call = fn.metadata[_CALL]
        hooks.append(fn.register_hook(functools.partial(_broke, call, tell)))
    return hooks


@uncompiled
def _broke(call: Call, tell: Any, results: Any, gradients: Any) -> None:
    if all(r is None or r.is_cuda or values.all_finite(r) for r in results):
        return
    if call.given is None or call.twin.failed:
        return
    if any(g is not None and not values.all_finite(g) for g in gradients):
        return  # it came from elsewhere
    held.aside += 1
    try:
        found, inputs = call.again(apart=True)
        pairs = [(found[i], gradients[n]) for n, i in call.outputs.items() if gradients[n] is not None]
        hooks = [
            view.fn.register_hook(functools.partial(tell, view))
            for view in nodes.in_order([t for t, _ in pairs])
            if view.fn is not None and view.op is not None
        ]
        torch.autograd.grad([t for t, _ in pairs], inputs, [g for _, g in pairs], allow_unused=True)
        while hooks:
            hooks.pop().remove()
    except (DiagnosisError, DiagnosisWarning):
        raise
    except Exception:
        call.twin.failed = True
    finally:
        held.aside -= 1


@contextlib.contextmanager
def _as_before(args: Any, old: dict[int, Any]) -> Iterator[None]:
    """What was compiled has written to these: they are once more as they were, until the twin has run."""
    now = {i: args[i].detach().clone() for i in old}
    _put(args, old)
    try:
        yield
    finally:
        _put(args, now)


def _put(args: Any, these: dict[int, Any]) -> None:
    with torch._C.DisableTorchFunction(), torch.no_grad():
        for i, t in these.items():
            with torch.autograd._unsafe_preserve_version_counter(args[i]):
                args[i].detach().copy_(t)


@contextlib.contextmanager
def _heard() -> Iterator[None]:
    listening.set_open(True)
    try:
        yield
    finally:
        listening.set_open(False)


@contextlib.contextmanager
def _recording_kept() -> Iterator[None]:
    recorded = torch.is_grad_enabled()
    try:
        yield
    finally:
        torch._C._set_grad_enabled(recorded)


def _random_states() -> tuple[Any, Any]:
    gpu = torch.cuda.get_rng_state() if torch.cuda.is_initialized() else None
    return torch.get_rng_state(), gpu


def _set_random_states(states: tuple[Any, Any]) -> None:
    torch.set_rng_state(states[0])
    if states[1] is not None:
        torch.cuda.set_rng_state(states[1])


@contextlib.contextmanager
def _random_as(states: tuple[Any, Any]) -> Iterator[None]:
    now = _random_states()
    _set_random_states(states)
    try:
        yield
    finally:
        _set_random_states(now)


def _linked(found: Any, results: Any, began: int, before: int) -> None:
    """What the twin gave stands for what the compiled graph gave."""
    for view in nodes.in_order(hearing.tensors_in(list(found))):
        view.twin = view.twin or -view.seq >= before
    for new, real in zip(found, results, strict=True):
        if isinstance(new, torch.Tensor) and isinstance(real, torch.Tensor) and new is not real:
            if new.grad_fn is not None and _is_made(real, began):
                nodes.stand_for(real.grad_fn, real.output_nr, new)
            if hub.applied is not None:
                hub.applied(named("clone"), [new], [], [real])
