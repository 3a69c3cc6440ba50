"""`torch._dynamo.exc`: what `torch.compile` raises."""


class TorchDynamoException(RuntimeError):
    """Base of all of them."""


class Unsupported(TorchDynamoException):
    """Code that cannot be compiled."""


class BackendCompilerFailed(TorchDynamoException):
    """The compiler failed."""


class InvalidBackend(TorchDynamoException):
    """A compiler that nobody knows."""


class TensorifyScalarRestartAnalysis(TorchDynamoException):
    """The compiler begins anew."""


class UserError(TorchDynamoException):
    """A mistake in the use of the compiler."""
