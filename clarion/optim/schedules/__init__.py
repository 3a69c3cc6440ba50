"""The schedules of learning rates behind `torch.optim.lr_scheduler`."""
