"""no_grad, enable_grad, set_grad_enabled, inference_mode: as contexts, decorators, functions; who keeps them."""

from __future__ import annotations

import asyncio

from .programs import leaf, refusal, warned


def no_grad_context(t):
    x = leaf(t)
    with t.no_grad():
        y, inside = x * 2, t.is_grad_enabled()
    return inside, y.requires_grad, y.is_leaf, t.is_grad_enabled()


def enable_inside_no_grad(t):
    x = leaf(t)
    with t.no_grad():
        with t.enable_grad():
            y = x * 2
        z = x * 2
    return y.requires_grad, z.requires_grad


def nesting_restores_each(t):
    seen = []
    with t.no_grad():
        seen.append(t.is_grad_enabled())
        with t.set_grad_enabled(True):
            seen.append(t.is_grad_enabled())
            with t.no_grad():
                seen.append(t.is_grad_enabled())
            seen.append(t.is_grad_enabled())
        seen.append(t.is_grad_enabled())
    return seen, t.is_grad_enabled()


def exception_restores(t):
    def run(mode):
        with mode:
            raise KeyError("x")

    found = []
    for mode in (t.no_grad(), t.enable_grad(), t.set_grad_enabled(False), t.inference_mode()):
        found.append((refusal(lambda mode=mode: run(mode)), t.is_grad_enabled(), t.is_inference_mode_enabled()))
    return found


def one_object_entered_twice(t):
    mode = t.no_grad()
    with mode:
        pass
    with mode:
        a = t.is_grad_enabled()
    return a, t.is_grad_enabled()


def factory_under_no_grad(t):
    with t.no_grad():
        x = t.ones(2, requires_grad=True)
        y = t.nn.Parameter(t.ones(2))
    return x.requires_grad, y.requires_grad, (x * 2).requires_grad


def requires_grad_inside_no_grad(t):
    with t.no_grad():
        x = t.ones(2)
        x.requires_grad_()
        y = x * 2
    return x.requires_grad, y.requires_grad, (x * 2).requires_grad


def decorator_without_parentheses(t):
    @t.no_grad
    def f(x):
        "doc"
        return x * 2

    return f(leaf(t)).requires_grad, f.__name__, f.__doc__


def decorator_with_parentheses(t):
    @t.no_grad()
    def f(x):
        return x * 2, t.is_grad_enabled()

    y, on = f(leaf(t))
    return y.requires_grad, on, f.__name__


def enable_grad_decorators(t):
    @t.enable_grad
    def f(x):
        return x * 2

    @t.enable_grad()
    def g(x):
        return x * 2

    with t.no_grad():
        return f(leaf(t)).requires_grad, g(leaf(t)).requires_grad


def set_grad_enabled_decorator(t):
    @t.set_grad_enabled(False)
    def f(x):
        return x * 2

    on = t.is_grad_enabled()
    return on, f(leaf(t)).requires_grad, t.is_grad_enabled()


def set_grad_enabled_decorator_with_mode_keyword(t):
    @t.set_grad_enabled(mode=True)
    def f(x):
        return x * 2

    with t.no_grad():
        return f(leaf(t)).requires_grad


def inference_mode_decorators(t):
    @t.inference_mode
    def f(x):
        return x * 2

    @t.inference_mode()
    def g(x):
        return x * 2

    @t.inference_mode(False)
    def h(x):
        return x * 2

    @t.inference_mode(mode=True)
    def i(x):
        return x * 2

    return [fn(leaf(t)).is_inference() for fn in (f, g, h, i)], [fn(leaf(t)).requires_grad for fn in (f, g, h, i)]


def decorated_method(t):
    class Model:
        scale = 3

        @t.no_grad()
        def run(self, x, *, plus=0):
            return x * self.scale + plus

        @staticmethod
        @t.no_grad()
        def plain(x):
            return x * 2

        @classmethod
        @t.no_grad()
        def of_class(cls, x):
            return x * cls.scale

    m, x = Model(), leaf(t)
    return m.run(x, plus=1), [v.requires_grad for v in (m.run(x), m.plain(x), m.of_class(x), Model.of_class(x))]


def decorated_recursion(t):
    @t.no_grad()
    def f(x, n):
        return x * 2 if n == 0 else f(x, n - 1)

    return f(leaf(t), 5).requires_grad, t.is_grad_enabled()


def decorated_class(t):
    seen = []

    def decorate():
        class Model:
            def __init__(self):
                seen.append(t.is_grad_enabled())

            def run(self):
                seen.append(t.is_grad_enabled())

        return t.no_grad()(Model)

    found = warned(lambda: decorate()().run(), 32)
    return found, seen


def function_call_stays(t):
    t.set_grad_enabled(False)
    a = t.is_grad_enabled()
    t.set_grad_enabled(True)
    return a, t.is_grad_enabled()


def function_inside_context(t):
    seen = []
    with t.no_grad():
        t.set_grad_enabled(True)
        seen.append(t.is_grad_enabled())
    seen.append(t.is_grad_enabled())
    return seen


def set_grad_enabled_as_context(t):
    x = leaf(t)
    with t.set_grad_enabled(False):
        y = x * 2
    with t.set_grad_enabled(True):
        z = x * 2
    return y.requires_grad, z.requires_grad, t.is_grad_enabled()


def set_grad_enabled_text(t):
    mode = t.set_grad_enabled(True)
    return repr(mode), str(mode), mode.mode


def generator_keeps_its_mode(t):
    @t.no_grad()
    def gen():
        for i in range(3):
            yield i, t.is_grad_enabled()

    seen = []
    for item in gen():
        seen.append((item, t.is_grad_enabled()))
    return seen


def enable_grad_generator_under_no_grad(t):
    @t.enable_grad()
    def gen():
        for _ in range(2):
            yield t.is_grad_enabled()

    seen = []
    with t.no_grad():
        for item in gen():
            seen.append((item, t.is_grad_enabled()))
    return seen


def generator_send(t):
    @t.no_grad()
    def gen():
        value = "start"
        while value != "stop":
            value = yield (value, t.is_grad_enabled())
        return "done"

    g = gen()
    seen = [next(g), g.send("a"), g.send("b")]
    try:
        g.send("stop")
    except StopIteration as stop:
        seen.append(stop.value)
    return seen, t.is_grad_enabled()


def generator_throw(t):
    seen = []

    @t.no_grad()
    def gen():
        while True:
            try:
                yield "item"
            except KeyError:
                seen.append(("caught", t.is_grad_enabled()))
                yield "recovered"

    g = gen()
    seen.append(next(g))
    seen.append(g.throw(KeyError("k")))
    seen.append(t.is_grad_enabled())
    seen.append(refusal(lambda: g.throw(ValueError("out"))))
    return seen, t.is_grad_enabled()


def generator_close(t):
    seen = []

    @t.no_grad()
    def gen():
        try:
            yield 1
        finally:
            seen.append(t.is_grad_enabled())

    g = gen()
    next(g)
    g.close()
    return seen, t.is_grad_enabled()


def generator_yield_from(t):
    @t.no_grad()
    def inner():
        yield t.is_grad_enabled()
        return "inner result"

    def outer():
        result = yield from inner()
        yield result

    return list(outer())


def generator_changes_the_mode_itself(t):
    @t.no_grad()
    def gen():
        t.set_grad_enabled(True)
        yield t.is_grad_enabled()
        yield t.is_grad_enabled()

    return [(item, t.is_grad_enabled()) for item in gen()]


def two_generators_interleaved(t):
    @t.no_grad()
    def off():
        for _ in range(3):
            yield t.is_grad_enabled()

    @t.enable_grad()
    def on():
        for _ in range(3):
            yield t.is_grad_enabled()

    return [(a, b, t.is_grad_enabled()) for a, b in zip(off(), on(), strict=True)]


def generator_is_a_generator(t):
    import inspect

    @t.no_grad()
    def gen():
        yield 1

    return inspect.isgeneratorfunction(gen), inspect.isgenerator(gen()), gen.__name__


def generator_in_plain_context_leaks(t):
    def gen():
        with t.no_grad():
            yield 1
            yield 2

    seen = []
    for _ in gen():
        seen.append(t.is_grad_enabled())
    seen.append(t.is_grad_enabled())
    return seen


def inference_generator(t):
    @t.inference_mode()
    def gen():
        for _ in range(2):
            yield t.is_inference_mode_enabled()

    return [(item, t.is_inference_mode_enabled()) for item in gen()]


def coroutine(t):
    async def inner():
        await asyncio.sleep(0)
        return t.is_grad_enabled()

    async def outer():
        with t.no_grad():
            return await inner()

    return asyncio.run(outer())


def grad_mode_of_awaited_result(t):
    async def f(x):
        with t.no_grad():
            return x * 2

    return asyncio.run(f(leaf(t))).requires_grad


def warnings_that_come_always(t):
    def second_order():
        x = leaf(t)
        (x * x).sum().backward(create_graph=True)
        x.grad = None

    warned(second_order)  # the first of this process, or not
    t.set_warn_always(True)
    always, asked = warned(second_order), t.is_warn_always_enabled()
    t.set_warn_always(False)
    return always, asked, warned(second_order)
