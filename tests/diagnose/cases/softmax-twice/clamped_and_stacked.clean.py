"""Per-step log-probabilities are stacked and permuted on their way to NLL; log_softmax into cross entropy is idempotent."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(63)


class Captioner(nn.Module):
    def __init__(self, words=9, width=16):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.cell = nn.LSTMCell(width, width)
        self.image = nn.Linear(5, width)
        self.out = nn.Linear(width, words)

    def forward(self, image, caption):
        h = c = torch.tanh(self.image(image))
        steps = []
        for word in caption.unbind(1):
            h, c = self.cell(self.words(word), (h, c))
            steps.append(F.log_softmax(self.out(h), dim=-1))
        return torch.stack(steps, dim=1)


def loss_fn(outputs, caption):
    return F.nll_loss(outputs.permute(0, 2, 1), caption[:, 1:])


def main(steps=25):
    image = torch.randn(80, 5)
    caption = torch.cumsum((image.unsqueeze(2) > 0).long().squeeze(2), 1) + (image[:, :1] > 0).long()
    model = Captioner()
    optimizer = torch.optim.RMSprop(model.parameters(), lr=3e-3)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 / (1 + 0.05 * step))
    for _ in range(steps):
        rows = torch.randint(0, 80, (20,))
        loss = loss_fn(model(image[rows], caption[rows, :-1]), caption[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
    print("loss", round(loss.item(), 4))
    with torch.no_grad():
        print("again", round(F.cross_entropy(model(image, caption[:, :-1]).flatten(0, 1), caption[:, 1:].flatten()).item(), 4))


if __name__ == "__main__":
    main()
