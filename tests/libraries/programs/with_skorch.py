"""skorch: a network as an estimator, inside scikit-learn's pipeline and grid search."""

import numpy as np
import torch
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from skorch import NeuralNetClassifier, NeuralNetRegressor
from skorch.callbacks import EpochScoring

X, y = make_classification(200, 12, n_informative=6, random_state=0)
X, y = X.astype(np.float32), y.astype(np.int64)


class Net(torch.nn.Module):
    def __init__(self, hidden=10):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(12, hidden), torch.nn.ReLU(), torch.nn.Linear(hidden, 2))

    def forward(self, X):
        return torch.softmax(self.layers(X), dim=-1)


torch.manual_seed(0)
net = NeuralNetClassifier(
    Net,
    max_epochs=6,
    lr=0.1,
    batch_size=32,
    iterator_train__shuffle=True,
    verbose=0,
    callbacks=[EpochScoring("roc_auc", lower_is_better=False)],
)
net.fit(X, y)
print([row["train_loss"] for row in net.history], net.history[-1]["valid_loss"], net.history[-1]["roc_auc"])
print(net.predict_proba(X[:3]).tolist(), net.score(X, y))
torch.manual_seed(0)
pipeline = Pipeline(
    [("scale", StandardScaler()), ("net", NeuralNetClassifier(Net, max_epochs=3, train_split=False, verbose=0))]
)
grid = GridSearchCV(pipeline, {"net__lr": [0.05, 0.2], "net__module__hidden": [5, 20]}, cv=2, scoring="neg_log_loss")
grid.fit(X, y)
print(grid.best_params_, grid.best_score_, grid.cv_results_["mean_test_score"].tolist())
torch.manual_seed(0)
regressor = NeuralNetRegressor(torch.nn.Linear, module__in_features=12, module__out_features=1, max_epochs=3, verbose=0)
print(cross_val_score(regressor, X, X[:, :1], cv=2, scoring="r2").tolist())
