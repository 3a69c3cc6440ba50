"""torchmetrics: collections, trackers, wrappers, curves, and a metric of the user's."""

import torch
import torchmetrics
from torchmetrics import (
    Accuracy,
    F1Score,
    MeanAbsoluteError,
    MeanMetric,
    MeanSquaredError,
    MetricCollection,
    MetricTracker,
    MinMaxMetric,
    Precision,
    Recall,
    SumMetric,
)
from torchmetrics.wrappers import BootStrapper, ClasswiseWrapper, MultioutputWrapper, MultitaskWrapper, Running

torch.manual_seed(0)
c = MetricCollection(
    {
        "acc": Accuracy(task="multiclass", num_classes=4),
        "f1": F1Score(task="multiclass", num_classes=4, average="macro"),
        "p": Precision(task="multiclass", num_classes=4, average="weighted"),
    },
    prefix="train_",
)
for i in range(3):
    out = c(torch.randn(20, 4).softmax(-1), torch.randint(4, (20,)))
    print({k: v.item() for k, v in out.items()})
print({k: v.item() for k, v in c.compute().items()})
v = c.clone(prefix="val_")
v.reset()
print(list(v.keys()))
t = MetricTracker(Accuracy(task="binary"), maximize=True)
for e in range(3):
    t.increment()
    t.update(torch.rand(30), torch.randint(2, (30,)))
print(t.compute_all().tolist(), t.best_metric(return_step=True))
m = MinMaxMetric(MeanSquaredError())
for i in range(3):
    print({k: v.item() for k, v in m(torch.randn(5), torch.randn(5)).items()})
cw = ClasswiseWrapper(Recall(task="multiclass", num_classes=3, average=None), labels=["a", "b", "c"])
print({k: v.item() for k, v in cw(torch.randn(30, 3), torch.randint(3, (30,))).items()})
mo = MultioutputWrapper(MeanAbsoluteError(), 2)
print(mo(torch.randn(6, 2), torch.randn(6, 2)).tolist())
mt = MultitaskWrapper({"c": Accuracy(task="binary"), "r": MeanSquaredError()})
print(
    {
        k: v.item()
        for k, v in mt(
            {"c": torch.rand(6), "r": torch.randn(6)}, {"c": torch.randint(2, (6,)), "r": torch.randn(6)}
        ).items()
    }
)
r = Running(MeanMetric(), window=2)
[r.update(float(i)) for i in range(5)]
print(r.compute().item())
b = BootStrapper(MeanSquaredError(), num_bootstraps=5, quantile=torch.tensor([0.05, 0.95]))
b.update(torch.randn(40), torch.randn(40))
print({k: v.shape for k, v in b.compute().items()})
s = MeanMetric() + SumMetric()
s.update(torch.tensor([1.0, 2.0]))
print(s.compute().item())
from torchmetrics.functional.classification import *

p = torch.rand(50)
y = torch.randint(2, (50,))
print(
    binary_auroc(p, y).item(),
    binary_average_precision(p, y).item(),
    binary_calibration_error(p, y).item(),
    binary_matthews_corrcoef(p, y).item(),
    binary_cohen_kappa(p, y).item(),
    binary_roc(p, y, thresholds=5)[1].tolist(),
    binary_precision_recall_curve(p, y, thresholds=5)[0].tolist(),
)
P = torch.randn(40, 5).softmax(-1)
Y = torch.randint(5, (40,))
print(
    multiclass_auroc(P, Y, num_classes=5).item(),
    multiclass_jaccard_index(P, Y, num_classes=5).item(),
    multiclass_accuracy(P, Y, num_classes=5, top_k=2).item(),
    multiclass_hinge_loss(P, Y, num_classes=5).item(),
    multiclass_confusion_matrix(P, Y, num_classes=5, normalize="true").tolist()[0],
)
L = torch.rand(20, 4)
T = torch.randint(2, (20, 4))
print(
    multilabel_f1_score(L, T, num_labels=4).item(),
    multilabel_ranking_loss(L, T, num_labels=4).item(),
    multilabel_coverage_error(L, T, num_labels=4).item(),
    multilabel_exact_match(L, T, num_labels=4).item(),
    multilabel_average_precision(L, T, num_labels=4).item(),
)


class Own(torchmetrics.Metric):
    def __init__(s):
        super().__init__()
        s.add_state("n", torch.tensor(0.0), dist_reduce_fx="sum")
        s.add_state("l", [], dist_reduce_fx="cat")

    def update(s, x):
        s.n += x.sum()
        s.l.append(x)

    def compute(s):
        return s.n / torchmetrics.utilities.dim_zero_cat(s.l).numel()


o = Own()
print(o(torch.ones(3)).item(), o(torch.arange(4.0)).item(), o.compute().item())
print(list(o.state_dict()), o.metric_state["n"].item())
o.persistent(True)
sd = o.state_dict()
q = Own()
q.persistent(True)
q.load_state_dict(sd)
print(q.n.item())
