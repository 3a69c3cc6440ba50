"""torchinfo: the summary of a model."""

import torch
from torchinfo import summary

torch.manual_seed(0)
model = torch.nn.Sequential(
    torch.nn.Conv2d(3, 8, 3, padding=1),
    torch.nn.BatchNorm2d(8),
    torch.nn.ReLU(),
    torch.nn.AdaptiveAvgPool2d(1),
    torch.nn.Flatten(),
    torch.nn.Linear(8, 10),
)
found = summary(
    model, input_size=(2, 3, 16, 16), verbose=0, col_names=("input_size", "output_size", "num_params", "mult_adds")
)
print(found)
print(found.total_params, found.trainable_params, found.total_mult_adds, found.total_output_bytes)
print(summary(torch.nn.LSTM(4, 8, 2), input_data=torch.randn(5, 2, 4), verbose=0).total_params)
