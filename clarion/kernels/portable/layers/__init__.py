"""What neural layers compute: convolution, pooling, normalization, recurrence, attention, embedding, resampling."""
