"""torchmetrics: classification, regression and running means."""

import torch
import torchmetrics
from torchmetrics.classification import BinaryAUROC, MulticlassAccuracy, MulticlassConfusionMatrix, MulticlassF1Score
from torchmetrics.functional import pairwise_cosine_similarity
from torchmetrics.regression import MeanSquaredError, PearsonCorrCoef, R2Score, SpearmanCorrCoef

torch.manual_seed(0)
metrics = torchmetrics.MetricCollection(
    {"acc": MulticlassAccuracy(4), "f1": MulticlassF1Score(4, average="macro"), "top2": MulticlassAccuracy(4, top_k=2)}
)
confusion = MulticlassConfusionMatrix(4)
for _ in range(4):
    logits, target = torch.randn(32, 4), torch.randint(0, 4, (32,))
    print({k: v.item() for k, v in metrics(logits, target).items()})
    confusion.update(logits, target)
print({k: v.item() for k, v in metrics.compute().items()}, confusion.compute().tolist())
scores, positive = torch.rand(100), torch.randint(0, 2, (100,))
print(BinaryAUROC()(scores, positive).item(), BinaryAUROC(thresholds=20)(scores, positive).item())
a, b = torch.randn(50), torch.randn(50)
for metric in (MeanSquaredError(), R2Score(), PearsonCorrCoef(), SpearmanCorrCoef()):
    metric.update(a, a + 0.5 * b)
    print(type(metric).__name__, metric.compute().item())
mean = torchmetrics.MeanMetric()
mean.update(a)
mean.update(b, weight=2.0)
print(mean.compute().item(), pairwise_cosine_similarity(a.view(5, 10)).sum().item())
