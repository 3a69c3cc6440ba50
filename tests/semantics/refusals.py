"""What PyTorch's graph and tensors refuse, each with the exception type and the phrase that is the contract.

Every program takes the namespace (`clarion`, or PyTorch itself in the comparison) and must raise.
"""

from __future__ import annotations

from .refusal import leaf, refused

TWICE = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have already been "
    "freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad()."
)


@refused(TWICE)
def second_backward(t):
    y = (leaf(t) * 2).sum()
    y.backward()
    y.backward()


@refused(TWICE)
def second_backward_unary(t):
    y = leaf(t).exp().sum()
    y.backward()
    y.backward()


@refused(TWICE)
def saved_after_free(t):
    y = leaf(t).exp()
    y.sum().backward()
    _ = y.grad_fn._saved_result


@refused(TWICE)
def ctx_saved_after_free(t):
    class Square(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 2 * g * x

    y = Square.apply(leaf(t))
    y.sum().backward()
    _ = y.grad_fn.saved_tensors


@refused(TWICE)
def shared_part_freed(t):
    shared = leaf(t).exp()
    (shared * 2).sum().backward()
    (shared * 3).sum().backward()


@refused("grad can be implicitly created only for scalar outputs")
def non_scalar_root(t):
    (leaf(t) * 2).backward()


@refused("grad can be implicitly created only for real scalar outputs but got")
def complex_root(t):
    t.tensor([1 + 1j], dtype=t.complex64, requires_grad=True).sum().backward()


@refused("element 0 of tensors does not require grad and does not have a grad_fn")
def root_without_history(t):
    t.ones(3).sum().backward()


@refused("element 0 of tensors does not require grad and does not have a grad_fn")
def root_under_no_grad(t):
    x = leaf(t)
    with t.no_grad():
        y = (x * 2).sum()
    y.backward()


@refused("Mismatch in shape: grad_output[0] has a shape of")
def gradient_shape(t):
    (leaf(t) * 2).backward(t.ones(2))


@refused("got 2 tensors and 1 gradients")
def gradient_count(t):
    x = leaf(t)
    t.autograd.backward([x * 2, x * 3], [t.ones(3)])


@refused("gradients can be either Tensors or None, but got float", TypeError)
def gradient_type(t):
    t.autograd.backward([leaf(t) * 2], [1.0])


@refused("a leaf Variable that requires grad is being used in an in-place operation.")
def inplace_on_leaf(t):
    leaf(t).add_(1)


@refused("a leaf Variable that requires grad is being used in an in-place operation.")
def augmented_assignment_on_leaf(t):
    x = leaf(t)
    x *= 2


@refused("a leaf Variable that requires grad is being used in an in-place operation.")
def zero_a_leaf(t):
    leaf(t).zero_()


@refused("a view of a leaf Variable that requires grad is being used in an in-place operation.")
def inplace_on_view_of_leaf(t):
    leaf(t)[:2].add_(1)


@refused("a view of a leaf Variable that requires grad is being used in an in-place operation.")
def setitem_on_leaf(t):
    leaf(t)[0] = 1


OVERWRITTEN = "one of the variables needed for gradient computation has been modified by an inplace operation:"


@refused(OVERWRITTEN)
def saved_output_overwritten(t):
    y = leaf(t).exp()
    y.add_(1)
    y.sum().backward()


@refused(", which is output 0 of Exp")
def saved_output_names_its_maker(t):
    y = leaf(t).exp()
    y.add_(1)
    y.sum().backward()


@refused("is at version 1; expected version 0 instead.")
def saved_output_names_versions(t):
    y = leaf(t).exp()
    y.add_(1)
    y.sum().backward()


@refused(OVERWRITTEN)
def saved_input_overwritten(t):
    w = t.ones(3)
    y = leaf(t) * w
    w.add_(1)
    y.sum().backward()


@refused(OVERWRITTEN)
def saved_leaf_overwritten_under_no_grad(t):
    x = leaf(t)
    y = x * x
    with t.no_grad():
        x.add_(1)
    y.sum().backward()


@refused(OVERWRITTEN)
def saved_value_overwritten_through_detach(t):
    x = leaf(t).clone()
    y = x * x
    x.detach().zero_()
    y.sum().backward()


@refused(OVERWRITTEN)
def saved_value_overwritten_through_view(t):
    x = leaf(t).clone()
    y = x * x
    x[0] = 5.0
    y.sum().backward()


@refused("Output 0 of Unbind is a view and is being modified inplace. This view is the output of a function that")
def inplace_on_unbind(t):
    (leaf(t) * 2).unbind()[0].add_(1)


@refused("This view is the output of a function that returns multiple views.")
def inplace_on_split(t):
    (leaf(t) * 2).split(1)[0].add_(1)


@refused("A view was created in no_grad mode and is being modified inplace with grad mode enabled.")
def view_made_under_no_grad(t):
    x = leaf(t).clone()
    with t.no_grad():
        v = x[:2]
    v.mul_(2)


@refused("A view was created in inference mode and is being modified inplace in normal mode.")
def view_made_in_inference_mode(t):
    x = leaf(t).clone()
    with t.inference_mode():
        v = x[:2]
    v.mul_(2)


@refused("unsupported operation: more than one element of the written-to tensor refers to a single memory location.")
def inplace_on_expanded(t):
    t.ones(1).expand(3).add_(1)


@refused("Inference tensors cannot be saved for backward.")
def inference_tensor_saved(t):
    with t.inference_mode():
        w = t.ones(3)
    _ = leaf(t) * w


@refused("Inplace update to inference tensor outside InferenceMode is not allowed.")
def inference_tensor_written(t):
    with t.inference_mode():
        w = t.ones(3)
    w.add_(1)


@refused("Inference tensors do not track version counter.")
def inference_tensor_version(t):
    with t.inference_mode():
        w = t.ones(3)
    _ = w._version


@refused("Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.")
def inference_tensor_requires_grad(t):
    with t.inference_mode():
        w = t.ones(3)
    w.requires_grad_()


@refused(
    "The differentiated Tensor at index 1 appears to not have been used in the graph. Set allow_unused=True if this is "
    "the desired behavior."
)
def grad_of_unused_input(t):
    x, y = leaf(t), leaf(t)
    t.autograd.grad(x.sum() * 2, [x, y])


@refused("Expected allow_unused to be True or not passed when materialize_grads=True,", ValueError)
def materialize_without_allow_unused(t):
    x = leaf(t)
    t.autograd.grad(x.sum(), [x], allow_unused=False, materialize_grads=True)


@refused("One of the differentiated Tensors does not require grad")
def grad_of_input_without_grad(t):
    x = leaf(t)
    t.autograd.grad(x.sum(), [t.ones(3)])


@refused("`inputs` argument to `backward()` cannot be empty.")
def backward_of_no_inputs(t):
    leaf(t).sum().backward(inputs=[])


@refused("can't retain_grad on Tensor that has requires_grad=False")
def retain_grad_without_grad(t):
    t.ones(3).retain_grad()


@refused("cannot register a hook on a tensor that doesn't require gradient")
def hook_without_grad(t):
    t.ones(3).register_hook(lambda g: g)


@refused("hook '<lambda>' has changed the size of value")
def hook_changes_size(t):
    x = leaf(t)
    x.register_hook(lambda g: t.ones(2))
    x.sum().backward()


@refused("expected Variable, but hook returned 'str'", TypeError)
def hook_returns_text(t):
    x = leaf(t)
    x.register_hook(lambda g: "no")
    x.sum().backward()


@refused("post accumulate grad hooks cannot be registered on non-leaf tensors")
def post_accumulate_on_non_leaf(t):
    (leaf(t) * 2).register_post_accumulate_grad_hook(lambda p: None)


@refused("attempting to assign a gradient of size '[2]' to a tensor of size '[3]'.")
def assign_grad_of_other_size(t):
    leaf(t).grad = t.ones(2)


@refused("attempting to assign a gradient with dtype 'double' to a tensor with grad_dtype 'Float'.")
def assign_grad_of_other_type(t):
    leaf(t).grad = t.ones(3, dtype=t.float64)


@refused("assigned grad expected to be a Tensor or None but got grad of type float", TypeError)
def assign_grad_a_number(t):
    leaf(t).grad = 1.0


@refused("can't assign Variable as its own grad")
def assign_grad_itself(t):
    x = leaf(t)
    x.grad = x


@refused("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
def numpy_of_graph_tensor(t):
    leaf(t).numpy()


@refused("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
def asarray_of_graph_tensor(t):
    import numpy

    numpy.asarray(leaf(t))


@refused("a Tensor with 3 elements cannot be converted to Scalar")
def item_of_many(t):
    leaf(t).item()


@refused("Boolean value of Tensor with more than one value is ambiguous")
def bool_of_many(t):
    bool(leaf(t))


@refused("Boolean value of Tensor with no values is ambiguous")
def bool_of_none(t):
    bool(t.empty(0))


@refused("only one element tensors can be converted to Python scalars", ValueError)
def float_of_many(t):
    float(t.ones(3))


@refused("Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment.")
def deepcopy_of_non_leaf(t):
    import copy

    copy.deepcopy(leaf(t) * 2)


@refused("Only Tensors of floating point and complex dtype can require gradients")
def factory_of_integers_with_grad(t):
    t.ones(3, dtype=t.int64, requires_grad=True)


@refused("only Tensors of floating point and complex dtype can require gradients")
def setter_on_integers(t):
    t.ones(3, dtype=t.int64).requires_grad = True


@refused("only Tensors of floating point dtype can require gradients")
def requires_grad_on_integers(t):
    t.ones(3, dtype=t.int64).requires_grad_()


@refused("you can only change requires_grad flags of leaf variables.")
def freeze_a_non_leaf(t):
    (leaf(t) * 2).requires_grad = False


@refused(
    "add(): functions with out=... arguments don't support automatic differentiation, but one of the arguments requires "
    "grad."
)
def out_with_grad(t):
    t.add(leaf(t), 1, out=t.empty(3))


@refused("Given input size per channel: (1 x 5). Calculated output size per channel: (1 x 0). Output size is too small")
def transposed_convolution_without_results(t):
    t.nn.ConvTranspose1d(1, 8, 2, 1, 3)(t.zeros(1, 1, 5))


@refused("If dim is specified, it must be of length 1 or 2. Got []")
def norm_over_no_dimensions(t):
    t.linalg.norm(t.ones(2, 2), dim=())


@refused("invalid size, possible overflow?")
def arange_without_end(t):
    t.arange(1e-38, 3e38)


@refused("could not determine the shape of object type", ValueError)
def tensor_of_a_sequence_that_gives_nothing(t):
    class Silent:
        def __len__(self):
            return 3

        def __getitem__(self, item):
            raise TypeError

    t.tensor(Silent())
