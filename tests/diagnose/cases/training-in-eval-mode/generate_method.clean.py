"""A language model's own generate() calls self.eval() and self.train() again."""
import torch
from torch import nn

torch.manual_seed(27)
TEXT = "the cat sat on the mat and the dog sat on the log "
VOCABULARY = sorted(set(TEXT))


class CharTransformer(nn.Module):
    def __init__(self, vocabulary, width=16, context=8):
        super().__init__()
        self.context = context
        self.token = nn.Embedding(vocabulary, width)
        self.position = nn.Parameter(torch.randn(context, width) * 0.02)
        self.block = nn.TransformerEncoderLayer(width, 2, 32, dropout=0.2, batch_first=True, norm_first=True)
        self.out = nn.Linear(width, vocabulary)

    def forward(self, ids):
        length = ids.shape[1]
        mask = nn.Transformer.generate_square_subsequent_mask(length)
        return self.out(self.block(self.token(ids) + self.position[:length], src_mask=mask, is_causal=True))

    @torch.no_grad()
    def generate(self, start, count):
        self.eval()
        ids = torch.tensor([[VOCABULARY.index(start)]])
        for _ in range(count):
            logits = self(ids[:, -self.context :])[:, -1]
            ids = torch.cat([ids, torch.multinomial(logits.softmax(-1), 1)], dim=1)
        self.train()
        return "".join(VOCABULARY[i] for i in ids[0])


def main():
    data = torch.tensor([VOCABULARY.index(c) for c in TEXT * 4])
    model = CharTransformer(len(VOCABULARY))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for iteration in range(1, 51):
        starts = torch.randint(0, len(data) - 9, (12,))
        chunk = torch.stack([data[s : s + 9] for s in starts])
        loss = nn.functional.cross_entropy(model(chunk[:, :-1]).transpose(1, 2), chunk[:, 1:])
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if iteration % 25 == 0:
            print(iteration, round(loss.item(), 3), repr(model.generate("t", 10)))


main()
