# io.thecodeforge: Custom autograd Function examples
# Two real production use cases: numerically stable log-sum-exp
# and straight-through estimator for quantization-aware training
import clarion as torch
from clarion.autograd import Function


class StableLogSumExp(Function):
    """
    Numerically stable log-sum-exp with a custom backward pass.

    Why this exists: The naive computation log(sum(exp(x))) overflows
    float32 when any element of x exceeds ~88. The stable version
    subtracts the maximum before exponentiating — mathematically identical
    but float32-safe. The gradient is softmax(x) * grad_output, computed
    in the stable form.
    """

    @staticmethod
    def forward(ctx, x, dim):
        ctx.dim = dim
        # Subtract max for numerical stability — does not change the result
        max_val = x.max(dim=dim, keepdim=True).values
        shifted = x - max_val
        exp_sum = shifted.exp().sum(dim=dim, keepdim=True)
        ctx.save_for_backward(x, max_val)
        return max_val.squeeze(dim) + exp_sum.log().squeeze(dim)

    @staticmethod
    def backward(ctx, grad_output):
        x, max_val = ctx.saved_tensors
        dim = ctx.dim
        # Stable softmax — same stability trick as forward
        shifted = (x - max_val).exp()
        softmax = shifted / shifted.sum(dim=dim, keepdim=True)
        # Chain rule: d(LSE)/dx_i = softmax_i
        # Multiply by upstream gradient and broadcast back to x shape
        return grad_output.unsqueeze(dim) * softmax, None  # None for dim argument


class StraightThroughEstimator(Function):
    """
    Straight-through estimator for quantization-aware training.

    Why this exists: Rounding (quantization) has zero gradient everywhere —
    no signal propagates backward through round() in standard Autograd.
    The straight-through estimator passes gradients straight through
    the quantization step as if it were an identity function.
    This allows gradient-based training of networks that use quantization
    at inference time.
    """

    @staticmethod
    def forward(ctx, x, num_bits=8):
        # Quantize to num_bits — this is the discrete rounding step
        scale = 2**num_bits - 1
        return x.mul(scale).round().div(scale)

    @staticmethod
    def backward(ctx, grad_output):
        # Pass gradient through unchanged — ignore the discontinuity
        # This is the straight-through estimator approximation
        return grad_output, None  # None for num_bits


# === Verification with gradcheck ===
# gradcheck numerically estimates gradients via finite differences
# and compares against your custom backward() — always run this before deploying
print("Verifying StableLogSumExp gradients...")
x_check = torch.randn(4, 8, requires_grad=True, dtype=torch.float64)  # float64 for gradcheck precision
result = torch.autograd.gradcheck(lambda x: StableLogSumExp.apply(x, 1), (x_check,), eps=1e-6, atol=1e-4)
print(f"StableLogSumExp gradcheck: {'PASSED' if result else 'FAILED'}")

# === Production usage ===
x = torch.randn(3, 10, requires_grad=True)
lse = StableLogSumExp.apply(x, dim=1)
loss = lse.sum()
loss.backward()
print(f"Custom gradient shape: {x.grad.shape}")
# Gradient sums to 1.0 per row because gradient of LSE is softmax
print(f"Gradient row sums (should be ~1.0): {x.grad.sum(dim=1)}")

# === Quantization example ===
weights = torch.randn(4, 4, requires_grad=True)
quantized = StraightThroughEstimator.apply(weights, 8)
loss_q = quantized.sum()
loss_q.backward()
print(f"\nQuantization gradient (straight-through, same shape as weights): {weights.grad.shape}")
print(f"Gradient values (all 1.0 — passed straight through): {weights.grad.unique()}")
