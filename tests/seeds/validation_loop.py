# The validation loop, with a model and data for it.
import clarion as torch
import clarion.nn as nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 16), nn.Dropout(0.5), nn.ReLU(), nn.Linear(16, 3))
val_loader = [(torch.randn(8, 4), torch.randint(0, 3, (8,))) for _ in range(5)]

model.eval()
with torch.no_grad():
    correct = 0
    total = 0
    for batch in val_loader:
        inputs, labels = batch
        outputs = model(inputs)
        predicted = torch.argmax(outputs, dim=1)
        correct += (predicted == labels).sum().item()
        total += labels.size(0)
    accuracy = correct / total

print(f"{correct} of {total}: {accuracy:.3f}")
