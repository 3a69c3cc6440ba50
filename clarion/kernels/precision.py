"""How exactly a GPU multiplies float32: in full, or by tensor cores, which round what they multiply to ten bits (TF32)."""

products = False  # `set_float32_matmul_precision("high")`, `torch.backends.cuda.matmul.allow_tf32`
layers = True  # convolutions and recurrent layers: `torch.backends.cudnn.allow_tf32`, which PyTorch has on
