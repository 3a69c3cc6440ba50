"""How operations become public: `torch.name`, `Tensor.name`, `out=`, operators, and the arguments many of them share."""
