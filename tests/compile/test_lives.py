"""Programs as people write them, over many steps: models that change while they train, state in classes, several models and optimizers."""

from __future__ import annotations

import copy
import math

import pytest

import clarion as torch
from clarion import nn

from .worlds import batch, compare, network, training, worlds

F = torch.nn.functional
WORLDS, world = worlds()


def _step(model, optimizer, loss=F.cross_entropy):
    def step(x, y):
        optimizer.zero_grad()
        value = loss(model(x), y)
        value.backward()
        optimizer.step()
        return value

    return step


# State in classes --------------------------------------------------------------------------------------------------


class Trainer:
    def __init__(self, model, optimizer, decay=0.9):
        self.model, self.optimizer, self.decay = model, optimizer, decay
        self.average = {name: p.detach().clone() for name, p in model.named_parameters()}
        self.count = torch.zeros((), dtype=torch.int64)
        self.smooth = torch.zeros(())

    def step(self, x, y):
        self.optimizer.zero_grad(set_to_none=False)
        loss = F.cross_entropy(self.model(x), y, label_smoothing=0.1)
        loss.backward()
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), 0.3)
        self.optimizer.step()
        with torch.no_grad():
            self.count += 1
            self.smooth.mul_(self.decay).add_(loss, alpha=1 - self.decay)
            for name, p in self.model.named_parameters():
                self.average[name].lerp_(p, 1 - self.decay)
        return loss.detach(), norm


@world
def a_trainer_with_averages_and_counts():
    model = network()
    trainer = Trainer(model, torch.optim.RMSprop(model.parameters(), lr=0.02))

    def script(call, note):
        for i in range(12):
            call(*batch(1 + i / 5))
            note(list(model.parameters()), trainer.average, trainer.count, trainer.smooth)
            if i == 7:
                trainer.decay = 0.5

    return trainer.step, script


@world
def a_counter_of_pythons():
    model, optimizer, _ = training(lambda p: torch.optim.SGD(p, lr=0.1))
    state = {"steps": 0}

    def step(x, y):
        state["steps"] += 1
        for group in optimizer.param_groups:
            group["lr"] = 0.1 / math.sqrt(state["steps"])
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    def script(call, note):
        for _ in range(8):
            call(*batch())
            note(list(model.parameters()), state["steps"], optimizer.param_groups[0]["lr"])

    return step, script


@world
def a_schedule_inside():
    model = network()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.05)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 10)

    def step(x, y):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        schedule.step()
        return loss

    def script(call, note):
        for _ in range(9):
            call(*batch())
            note(list(model.parameters()), optimizer.param_groups[0]["lr"])

    return step, script


@world
def a_warm_up_outside():
    model = network()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda k: min(1.0, (k + 1) / 5))

    def script(call, note):
        for _ in range(10):
            call(*batch())
            schedule.step()
            note(list(model.parameters()))

    return _step(model, optimizer), script


@world
def gradients_that_are_gathered():
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

    def step(batches):
        optimizer.zero_grad()
        total = torch.zeros(())
        for x, y in batches:
            loss = F.cross_entropy(model(x), y) / len(batches)
            loss.backward()
            total += loss.detach()
        optimizer.step()
        return total

    def script(call, note):
        for i in range(12):
            call([batch(1 + k + i / 4) for k in range(2 + i // 6)])
            note(list(model.parameters()))

    return step, script


@world
def micro_batches():
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step(x, y):
        optimizer.zero_grad()
        losses = []
        for part, labels in zip(x.split(2), y.split(2), strict=True):
            loss = F.cross_entropy(model(part), labels, reduction="sum")
            (loss / len(x)).backward()
            losses.append(loss.detach())
        optimizer.step()
        return torch.stack(losses).sum() / len(x)

    def script(call, note):
        for i in range(8):
            call(*batch(1 + i / 4))
            note(list(model.parameters()))

    return step, script


# Models that change -----------------------------------------------------------------------------------------------


@world
def layers_that_are_frozen_and_thawed():
    model, _, step = training(lambda p: torch.optim.Adam(p, lr=0.05))

    def script(call, note):
        for i in range(16):
            if i in (5, 11):
                for p in model[0].parameters():
                    p.requires_grad_(i == 11)
            call(*batch(1 + i / 9))
            note(list(model.parameters()))

    return step, script


@world
def a_model_that_is_copied_midway():
    model, _, step = training(lambda p: torch.optim.SGD(p, lr=0.2))

    def script(call, note):
        kept = []
        for i in range(12):
            call(*batch(1 + i / 9))
            if i % 4 == 3:
                kept.append(copy.deepcopy(model))
                note(*[list(each.parameters()) for each in kept])
        with torch.no_grad():
            for p in kept[0].parameters():
                p.zero_()
        call(*batch())
        note(list(model.parameters()))

    return step, script


@world
def another_optimizer_midway():
    holder = {"model": network()}
    holder["optimizer"] = torch.optim.SGD(holder["model"].parameters(), lr=0.1)

    def step(x, y):
        holder["optimizer"].zero_grad()
        loss = F.cross_entropy(holder["model"](x), y)
        loss.backward()
        holder["optimizer"].step()
        return loss

    def script(call, note):
        for i in range(20):
            if i == 6:
                holder["optimizer"] = torch.optim.AdamW(holder["model"].parameters(), lr=0.02)
            if i == 13:
                holder["model"] = network(3)
                holder["optimizer"] = torch.optim.Adagrad(holder["model"].parameters(), lr=0.1)
            call(*batch())
            note(list(holder["model"].parameters()))

    return step, script


@world
def hooks_that_come_later():
    model, _, step = training(lambda p: torch.optim.SGD(p, lr=0.1))
    seen = []

    def script(call, note):
        handles = []
        for i in range(20):
            if i == 5:
                handles.append(model[0].weight.register_hook(lambda grad: grad * 2))
            if i == 9:
                handles.append(model[1].register_forward_hook(lambda module, given, out: seen.append(out.sum().item())))
            if i == 13:
                for handle in handles:
                    handle.remove()
            call(*batch())
            note(list(model.parameters()), list(seen))

    return step, script


@world
def a_layer_that_grows():
    model, optimizer, step = training(lambda p: torch.optim.SGD(p, lr=0.1))

    def script(call, note):
        for i in range(14):
            if i == 6:
                model.append(nn.Linear(3, 3))
                nn.init.eye_(model[-1].weight)
                optimizer.add_param_group({"params": model[-1].parameters(), "lr": 0.01})
            if i == 10:
                model[1] = nn.ReLU()
            call(*batch())
            note(list(model.parameters()))

    return step, script


@world
def statistics_that_are_kept_and_used():
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Conv1d(2, 4, 3), nn.BatchNorm1d(4), nn.ReLU(), nn.Dropout(0.25), nn.Flatten(), nn.Linear(16, 3)
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)

    def step(x, y):
        if not model.training:
            with torch.no_grad():
                return F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    def script(call, note):
        torch.manual_seed(3)
        for i in range(24):
            model.train(i % 8 < 5)
            x = torch.randn(5, 2, 6)
            call(x, torch.tensor([0, 2, 1, 1, 0]))
            note(list(model.parameters()), list(model.buffers()))

    return step, script


# Several models -------------------------------------------------------------------------------------------------------


@world
def two_models_against_each_other():
    torch.manual_seed(0)
    maker, judge = nn.Linear(3, 4), nn.Sequential(nn.Linear(4, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1))
    first = torch.optim.Adam(maker.parameters(), lr=0.02, betas=(0.5, 0.9))
    second = torch.optim.Adam(judge.parameters(), lr=0.02)

    def step(real):
        noise = torch.randn(len(real), 3)
        second.zero_grad()
        made = maker(noise)
        one = F.binary_cross_entropy_with_logits(judge(real), torch.ones(len(real), 1))
        other = F.binary_cross_entropy_with_logits(judge(made.detach()), torch.zeros(len(real), 1))
        (one + other).backward()
        second.step()
        first.zero_grad()
        fooled = F.binary_cross_entropy_with_logits(judge(made), torch.ones(len(real), 1))
        fooled.backward()
        first.step()
        return one.detach() + other.detach(), fooled.detach()

    def script(call, note):
        for i in range(9):
            call(torch.arange(20.0).reshape(5, 4) / 10 + i)
            note(list(maker.parameters()), list(judge.parameters()))

    return step, script


@world
def a_teacher_and_a_student():
    teacher, student = network(1).eval(), network(2)
    for p in teacher.parameters():
        p.requires_grad_(False)
    optimizer = torch.optim.SGD(student.parameters(), lr=0.3)

    def step(x, temperature):
        with torch.no_grad():
            wanted = F.softmax(teacher(x) / temperature, -1)
        optimizer.zero_grad(set_to_none=True)
        loss = F.kl_div(F.log_softmax(student(x) / temperature, -1), wanted, reduction="batchmean")
        loss.backward()
        optimizer.step()
        return {"loss": loss.detach(), "wanted": wanted}

    def script(call, note):
        for i in range(15):
            call(batch(1 + i)[0], 2.0 if i < 8 else 4.0)
            note(list(student.parameters()), list(teacher.parameters()))
            if i == 4:
                teacher.load_state_dict(student.state_dict())

    return step, script


@world
def a_target_that_follows():
    online, target = network(1), network(1)
    optimizer = torch.optim.Adam(online.parameters(), lr=0.05)

    def step(state, action, reward, after):
        with torch.no_grad():
            best = reward + 0.9 * target(after).max(1).values
        value = online(state).gather(1, action[:, None]).squeeze(1)
        loss = F.smooth_l1_loss(value, best)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_value_(online.parameters(), 0.1)
        optimizer.step()
        return loss

    def script(call, note):
        for i in range(14):
            x, y = batch(1 + i / 10)
            call(x, y, x.sum(1), x + 1)
            if i % 5 == 4:
                target.load_state_dict(online.state_dict())
            note(list(online.parameters()))

    return step, script


@world
def some_parameters_get_no_gradient():
    torch.manual_seed(0)
    parts = nn.ModuleDict({"a": nn.Linear(6, 3), "b": nn.Linear(6, 3), "never": nn.Linear(2, 2)})
    optimizer = torch.optim.AdamW(parts.parameters(), lr=0.1, weight_decay=0.1)

    def step(x, y, which):
        optimizer.zero_grad()
        loss = F.cross_entropy(parts[which](x), y)
        loss.backward()
        optimizer.step()
        return loss

    def script(call, note):
        for i in range(18):
            call(*batch(), "a" if i % 3 else "b")
            note(list(parts.parameters()))

    return step, script


@world
def shared_weights():
    torch.manual_seed(0)
    table, out = nn.Embedding(7, 4), nn.Linear(4, 7, bias=False)
    out.weight = table.weight
    optimizer = torch.optim.SGD(table.parameters(), lr=0.5)

    def step(tokens):
        optimizer.zero_grad()
        loss = F.cross_entropy(out(table(tokens[:, :-1])).flatten(0, 1), tokens[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        return loss

    def script(call, note):
        for i in range(10):
            call((torch.arange(12).reshape(3, 4) * (i + 1)) % 7)
            note(table.weight)

    return step, script


@world
def states_that_are_put_back():
    model, optimizer, step = training(lambda p: torch.optim.Adam(p, lr=0.1))

    def script(call, note):
        kept = None
        for i in range(15):
            call(*batch(1 + i / 5))
            if i == 5:
                kept = copy.deepcopy((model.state_dict(), optimizer.state_dict()))
            if i in (8, 11):
                model.load_state_dict(kept[0])
                optimizer.load_state_dict(kept[1])
            note(list(model.parameters()), optimizer.state_dict()["state"])

    return step, script


@world
def closures_for_the_optimizer():
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step(x, y):
        def closure():
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            return loss

        return optimizer.step(closure)

    def script(call, note):
        for i in range(8):
            call(*batch(1 + i / 5))
            note(list(model.parameters()))

    return step, script


@pytest.mark.parametrize("name", WORLDS)
def test_a_compiled_step_is_what_it_is_as_written(name):
    compare(WORLDS[name])
