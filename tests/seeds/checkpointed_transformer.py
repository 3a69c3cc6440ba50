# io.thecodeforge: Gradient checkpointing for memory-efficient large model training
# This pattern reduces peak GPU memory for a 24-layer transformer
# from ~40GB to ~12GB at the cost of ~30% more compute
import clarion as torch
import clarion.nn as nn
from clarion.utils.checkpoint import checkpoint


class TransformerBlock(nn.Module):
    """
    A standard transformer block: attention + FFN with residual connections.

    The expensive memory consumer: attention intermediate activations
    (sequence_len x sequence_len matrices) and FFN hidden states (4x expansion).
    """

    def __init__(self, d_model=512, nhead=8):
        super().__init__()
        self.attn = nn.MultiheadAttention(d_model, nhead, batch_first=True)
        self.ffn = nn.Sequential(nn.Linear(d_model, d_model * 4), nn.GELU(), nn.Linear(d_model * 4, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)

    def forward(self, x):
        # Without checkpointing: all of attn_out, ffn_out are stored for backward
        attn_out, _ = self.attn(x, x, x)
        x = self.norm1(x + attn_out)
        ffn_out = self.ffn(x)
        x = self.norm2(x + ffn_out)
        return x


class CheckpointedTransformer(nn.Module):
    """
    Transformer with gradient checkpointing on expensive blocks.

    Memory profile comparison (12 layers, d_model=512, seq_len=512, batch=32):
    - Without checkpointing: ~24GB peak GPU memory
    - With checkpointing: ~8GB peak GPU memory
    - Compute overhead: ~30% more forward pass time
    """

    def __init__(self, n_layers=12, d_model=512):
        super().__init__()
        # Embedding is cheap to store — do not checkpoint it
        self.embedding = nn.Embedding(50000, d_model)
        self.layers = nn.ModuleList([TransformerBlock(d_model) for _ in range(n_layers)])
        # Output projection is also cheap — do not checkpoint
        self.output_proj = nn.Linear(d_model, 50000)

    def forward(self, x):
        # Embedding — cheap, store the intermediate
        x = self.embedding(x)
        for layer in self.layers:
            # checkpoint() discards all intermediates inside TransformerBlock.forward()
            # During backward, it re-executes the block to reconstruct them
            # use_reentrant=False: use the newer, safer implementation (PyTorch 2.0+)
            # The old default (use_reentrant=True) has edge cases with double backward
            x = checkpoint(layer, x, use_reentrant=False)
        # Output projection — cheap, store the intermediate
        return self.output_proj(x)


# Demonstrate memory measurement
model = CheckpointedTransformer(n_layers=12, d_model=512)
# Use integer token IDs for the embedding layer
batch = torch.randint(0, 50000, (4, 64))  # batch_size=4, seq_len=64 tokens

torch.cuda.reset_peak_memory_stats() if torch.cuda.is_available() else None

out = model(batch)
loss = out.sum()
loss.backward()

if torch.cuda.is_available():
    peak_mb = torch.cuda.max_memory_allocated() / 1024**2
    print(f"Peak GPU memory: {peak_mb:.1f} MB")

print(f"Output shape: {out.shape}")
print(f"Embedding gradient exists: {model.embedding.weight.grad is not None}")
print(f"Layer 0 attention gradient exists: {model.layers[0].attn.in_proj_weight.grad is not None}")
print(f"All parameters received gradients: {all(p.grad is not None for p in model.parameters())}")
