"""`torch._dynamo.backends`: clarion has one, which is its compiler."""
