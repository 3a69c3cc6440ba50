"""What optimizers do to parameters: one rule each, and the norms that gradients are clipped by."""
