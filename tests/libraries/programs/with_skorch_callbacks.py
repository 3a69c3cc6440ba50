"""skorch: callbacks, checkpoints, pickling, pipelines, regression, a loss of one's own."""

import pickle
import tempfile

import numpy as np
import torch
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from skorch import NeuralNet, NeuralNetBinaryClassifier, NeuralNetClassifier, NeuralNetRegressor
from skorch.callbacks import *
from skorch.dataset import Dataset, ValidSplit
from skorch.helper import predefined_split
from torch import nn

torch.manual_seed(0)
rs = np.random.RandomState(0)
X = rs.randn(120, 6).astype("float32")
y = (X[:, 0] + X[:, 1] > 0).astype("int64")


class M(nn.Module):
    def __init__(s, h=10, drop=0.1, nonlin=nn.ReLU()):
        super().__init__()
        s.a = nn.Linear(6, h)
        s.d = nn.Dropout(drop)
        s.n = nonlin
        s.o = nn.Linear(h, 2)

    def forward(s, x):
        return s.o(s.d(s.n(s.a(x)))).softmax(-1)


n = NeuralNetClassifier(
    M,
    max_epochs=4,
    lr=0.1,
    verbose=0,
    train_split=ValidSplit(4, stratified=True),
    callbacks=[
        EpochScoring("roc_auc", lower_is_better=False),
        LRScheduler("StepLR", step_size=2),
        EarlyStopping(patience=3),
        GradientNormClipping(1.0),
        ("ck", Checkpoint(dirname=tempfile.mkdtemp(), monitor="valid_loss_best")),
    ],
    optimizer=torch.optim.Adam,
    optimizer__weight_decay=0.0001,
    iterator_train__shuffle=True,
)
n.fit(X, y)
print(n.history[:, "train_loss"], n.history[:, "valid_loss"], n.history[:, "roc_auc"])
print(n.predict_proba(X[:3]).tolist(), n.score(X, y))
n.partial_fit(X, y)
print(len(n.history))
q = pickle.loads(pickle.dumps(n))
print(np.allclose(q.predict_proba(X), n.predict_proba(X)))
n.save_params(f_params="/tmp/sk.pt", f_optimizer="/tmp/sko.pt")
n2 = NeuralNetClassifier(M).initialize()
n2.load_params(f_params="/tmp/sk.pt")
print(n2.predict(X[:10]).tolist())
torch.manual_seed(1)
p = make_pipeline(StandardScaler(), NeuralNetClassifier(M, max_epochs=3, verbose=0, train_split=None))
print(cross_validate(p, X, y, cv=3)["test_score"].tolist())
torch.manual_seed(2)
g = GridSearchCV(
    NeuralNetClassifier(M, max_epochs=3, verbose=0, train_split=False),
    {"lr": [0.05, 0.2], "module__h": [4, 8], "optimizer__momentum": [0.0, 0.9]},
    cv=2,
    refit=True,
)
g.set_params(estimator__optimizer=torch.optim.SGD)
g.fit(X, y)
print(g.best_params_, g.best_score_)


class R(nn.Module):
    def __init__(s):
        super().__init__()
        s.l = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 1))

    def forward(s, x):
        return s.l(x)


torch.manual_seed(3)
r = NeuralNetRegressor(R, max_epochs=5, lr=0.05, verbose=0, criterion=nn.SmoothL1Loss, callbacks=[Freezer("l.0.*")])
r.fit(X, X.sum(1, keepdims=True))
print(r.history[-1, "valid_loss"], r.score(X, X.sum(1, keepdims=True)))


class B(nn.Module):
    def __init__(s):
        super().__init__()
        s.l = nn.Linear(6, 1)

    def forward(s, x):
        return s.l(x).squeeze(-1)


torch.manual_seed(4)
b = NeuralNetBinaryClassifier(B, max_epochs=5, verbose=0, lr=0.3)
b.fit(X, y.astype("float32"))
print(b.history[-1, "valid_loss"], b.predict(X[:8]).tolist())


class AE(NeuralNet):
    def get_loss(s, yp, yt, *a, **k):
        d, e = yp
        return super().get_loss(d, yt, *a, **k) + 0.01 * e.abs().sum()


class Auto(nn.Module):
    def __init__(s):
        super().__init__()
        s.e = nn.Linear(6, 2)
        s.d = nn.Linear(2, 6)

    def forward(s, X):
        e = s.e(X)
        return (s.d(e), e)


torch.manual_seed(5)
a = AE(Auto, criterion=nn.MSELoss, max_epochs=3, verbose=0, lr=0.1)
a.fit(X, X)
print(a.history[:, "train_loss"])
torch.manual_seed(6)
d = NeuralNetClassifier(
    M, max_epochs=2, verbose=0, train_split=predefined_split(Dataset(X[:20], y[:20])), warm_start=True
)
d.fit({"x": X}, y)
print(d.history[-1, "valid_acc"])
print(sorted(d.get_params(deep=False))[:5])
