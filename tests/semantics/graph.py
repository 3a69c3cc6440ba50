"""Names of the nodes that operations make."""

from __future__ import annotations


def _names(t, table):
    """Name of the node that each function of (x, w, m) makes."""
    found = {}
    for name, f in table.items():
        x = t.tensor([0.3, 0.6, 0.9], requires_grad=True)
        w = t.tensor([0.5, 0.5, 0.5], requires_grad=True)
        m = t.arange(9.0).reshape(3, 3).add(1).requires_grad_()
        y = f(x, w, m)
        y = y[0] if isinstance(y, (tuple, list)) else y
        found[name] = type(y.grad_fn).__name__
    return found


def names_of_arithmetic(t):
    return _names(
        t,
        {
            "add": lambda x, w, m: x + w,
            "add number": lambda x, w, m: x + 1,
            "radd": lambda x, w, m: 1 + x,
            "sub": lambda x, w, m: x - w,
            "rsub": lambda x, w, m: 1 - x,
            "mul": lambda x, w, m: x * w,
            "mul number": lambda x, w, m: x * 2,
            "rmul": lambda x, w, m: 2 * x,
            "div": lambda x, w, m: x / w,
            "div number": lambda x, w, m: x / 2,
            "rdiv": lambda x, w, m: 2 / x,
            "floor div": lambda x, w, m: t.div(x, w, rounding_mode="floor"),
            "pow number": lambda x, w, m: x**2,
            "pow tensor": lambda x, w, m: x**w,
            "rpow": lambda x, w, m: 2**x,
            "neg": lambda x, w, m: -x,
            "abs": lambda x, w, m: abs(x),
            "remainder": lambda x, w, m: x % w,
            "addcmul": lambda x, w, m: t.addcmul(x, w, w),
            "addcdiv": lambda x, w, m: t.addcdiv(x, w, w),
            "lerp": lambda x, w, m: t.lerp(x, w, 0.5),
            "lerp tensor": lambda x, w, m: t.lerp(x, w, w),
            "square": lambda x, w, m: x.square(),
            "reciprocal": lambda x, w, m: x.reciprocal(),
            "fmod": lambda x, w, m: t.fmod(x, w),
            "hypot": lambda x, w, m: t.hypot(x, w),
            "atan2": lambda x, w, m: t.atan2(x, w),
            "maximum": lambda x, w, m: t.maximum(x, w),
            "minimum": lambda x, w, m: t.minimum(x, w),
            "fmax": lambda x, w, m: t.fmax(x, w),
        },
    )


def names_of_functions(t):
    plain = (
        "exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh atanh sqrt rsqrt erf erfc "
        "erfinv sigmoid relu sign floor ceil round trunc frac lgamma digamma logit sinc abs"
    ).split()
    return _names(t, {name: (lambda x, w, m, name=name: getattr(x, name)()) for name in plain})


def names_of_reductions(t):
    return _names(
        t,
        {
            "sum": lambda x, w, m: m.sum(),
            "sum dim": lambda x, w, m: m.sum(0),
            "mean": lambda x, w, m: m.mean(),
            "mean dim": lambda x, w, m: m.mean(0),
            "prod": lambda x, w, m: m.prod(),
            "prod dim": lambda x, w, m: m.prod(0),
            "max": lambda x, w, m: m.max(),
            "max dim": lambda x, w, m: m.max(0),
            "min": lambda x, w, m: m.min(),
            "amax": lambda x, w, m: m.amax(0),
            "std": lambda x, w, m: m.std(),
            "var": lambda x, w, m: m.var(0),
            "norm": lambda x, w, m: m.norm(),
            "vector_norm": lambda x, w, m: t.linalg.vector_norm(m),
            "logsumexp": lambda x, w, m: m.logsumexp(0),
            "cumsum": lambda x, w, m: m.cumsum(0),
            "cumprod": lambda x, w, m: m.cumprod(0),
            "median": lambda x, w, m: m.median(),
            "nansum": lambda x, w, m: m.nansum(),
            "all": lambda x, w, m: x.sum() + m.all(),
        },
    )


def names_of_shapes(t):
    return _names(
        t,
        {
            "view": lambda x, w, m: m.view(9),
            "reshape": lambda x, w, m: m.reshape(9),
            "reshape copy": lambda x, w, m: m.t().reshape(9),
            "flatten": lambda x, w, m: m.flatten(),
            "t": lambda x, w, m: m.t(),
            "transpose": lambda x, w, m: m.transpose(0, 1),
            "permute": lambda x, w, m: m.permute(1, 0),
            "T": lambda x, w, m: m.T,
            "mT": lambda x, w, m: m.mT,
            "unsqueeze": lambda x, w, m: x.unsqueeze(0),
            "squeeze": lambda x, w, m: x.unsqueeze(0).squeeze(),
            "squeeze dim": lambda x, w, m: x.unsqueeze(0).squeeze(0),
            "expand": lambda x, w, m: x.expand(2, 3),
            "repeat": lambda x, w, m: x.repeat(2),
            "index int": lambda x, w, m: x[0],
            "index slice": lambda x, w, m: x[:2],
            "index full slice": lambda x, w, m: x[:],
            "index ellipsis": lambda x, w, m: x[...],
            "index none": lambda x, w, m: x[None],
            "index tensor": lambda x, w, m: x[t.tensor([0])],
            "index mask": lambda x, w, m: x[x > 0.5],
            "index list": lambda x, w, m: x[[0, 1]],
            "index two": lambda x, w, m: m[1, 2],
            "select": lambda x, w, m: m.select(0, 1),
            "narrow": lambda x, w, m: m.narrow(0, 0, 2),
            "diagonal": lambda x, w, m: m.diagonal(),
            "diag": lambda x, w, m: x.diag(),
            "tril": lambda x, w, m: m.tril(),
            "flip": lambda x, w, m: x.flip(0),
            "roll": lambda x, w, m: x.roll(1),
            "cat": lambda x, w, m: t.cat([x, w]),
            "stack": lambda x, w, m: t.stack([x, w]),
            "split": lambda x, w, m: x.split(1),
            "split sizes": lambda x, w, m: x.split([1, 2]),
            "chunk": lambda x, w, m: x.chunk(3),
            "unbind": lambda x, w, m: x.unbind(),
            "gather": lambda x, w, m: x.gather(0, t.tensor([0])),
            "scatter": lambda x, w, m: x.scatter(0, t.tensor([0]), w),
            "scatter_add": lambda x, w, m: x.scatter_add(0, t.tensor([0]), w),
            "index_select": lambda x, w, m: x.index_select(0, t.tensor([0])),
            "masked_fill": lambda x, w, m: x.masked_fill(x > 0.5, 0.0),
            "masked_select": lambda x, w, m: x.masked_select(x > 0.5),
            "where": lambda x, w, m: t.where(x > 0.5, x, w),
            "clone": lambda x, w, m: x.clone(),
            "contiguous": lambda x, w, m: m.t().contiguous(),
            "to": lambda x, w, m: x.to(t.float64),
            "double": lambda x, w, m: x.double(),
            "movedim": lambda x, w, m: m.movedim(0, 1),
            "unfold": lambda x, w, m: x.unfold(0, 2, 1),
            "as_strided": lambda x, w, m: x.as_strided((2,), (1,)),
            "sort": lambda x, w, m: x.sort(),
            "topk": lambda x, w, m: x.topk(2),
            "pad": lambda x, w, m: t.nn.functional.pad(x, (1, 1)),
        },
    )


def names_of_products_and_layers(t):
    f = t.nn.functional
    return _names(
        t,
        {
            "dot": lambda x, w, m: x @ w,
            "mv": lambda x, w, m: m @ x,
            "vm": lambda x, w, m: x @ m,
            "mm": lambda x, w, m: m @ m,
            "bmm": lambda x, w, m: t.bmm(m[None], m[None]),
            "matmul": lambda x, w, m: m[None] @ m[None],
            "outer": lambda x, w, m: t.outer(x, w),
            "addmm": lambda x, w, m: t.addmm(m, m, m),
            "linear": lambda x, w, m: f.linear(m, m, x),
            "linear without bias": lambda x, w, m: f.linear(m, m),
            "linear of vector": lambda x, w, m: f.linear(x, m, w),
            "einsum": lambda x, w, m: t.einsum("ij,jk->ik", m, m),
            "relu": lambda x, w, m: f.relu(x),
            "gelu": lambda x, w, m: f.gelu(x),
            "silu": lambda x, w, m: f.silu(x),
            "leaky_relu": lambda x, w, m: f.leaky_relu(x),
            "elu": lambda x, w, m: f.elu(x),
            "softplus": lambda x, w, m: f.softplus(x),
            "softmax": lambda x, w, m: f.softmax(x, 0),
            "log_softmax": lambda x, w, m: f.log_softmax(x, 0),
            "mse_loss": lambda x, w, m: f.mse_loss(x, w),
            "l1_loss": lambda x, w, m: f.l1_loss(x, w),
            "nll_loss": lambda x, w, m: f.nll_loss(m, t.tensor([0, 1, 2])),
            "cross_entropy": lambda x, w, m: f.cross_entropy(m, t.tensor([0, 1, 2])),
            "bce": lambda x, w, m: f.binary_cross_entropy(x, t.ones(3)),
            "bce logits": lambda x, w, m: f.binary_cross_entropy_with_logits(x, t.ones(3)),
            "dropout": lambda x, w, m: f.dropout(x, 0.5),
            "layer_norm": lambda x, w, m: f.layer_norm(m, (3,)),
            "embedding": lambda x, w, m: f.embedding(t.tensor([0]), m),
            "clamp": lambda x, w, m: x.clamp(0, 1),
            "clamp min": lambda x, w, m: x.clamp(min=0),
            "hardtanh": lambda x, w, m: f.hardtanh(x),
            "normalize": lambda x, w, m: f.normalize(x, dim=0),
            "cosine_similarity": lambda x, w, m: f.cosine_similarity(x, w, dim=0),
        },
    )


def names_of_in_place(t):
    return _names(
        t,
        {
            "add_": lambda x, w, m: (x * 1).add_(w),
            "mul_": lambda x, w, m: (x * 1).mul_(2),
            "exp_": lambda x, w, m: (x * 1).exp_(),
            "zero_": lambda x, w, m: (x * 1).zero_(),
            "fill_": lambda x, w, m: (x * 1).fill_(2),
            "copy_": lambda x, w, m: (x * 1).copy_(w),
            "relu_": lambda x, w, m: (x * 1).relu_(),
            "clamp_": lambda x, w, m: (x * 1).clamp_(0, 1),
            "masked_fill_": lambda x, w, m: (x * 1).masked_fill_(x > 0.5, 0.0),
            "t_": lambda x, w, m: (m * 1).t_(),
            "unsqueeze_": lambda x, w, m: (x * 1).unsqueeze_(0),
        },
    )


def names_of_complex(t):
    z = t.tensor([1 + 1j], requires_grad=True)
    x = t.tensor([1.0], requires_grad=True)
    made = [
        z.abs(), z.angle(), z.conj(), z.real, z.imag, t.view_as_real(z), z * z, z.exp(), t.complex(x, x), t.polar(x, x),
        z.sgn(),
    ]  # fmt: skip
    return [type(v.grad_fn).__name__ for v in made]
