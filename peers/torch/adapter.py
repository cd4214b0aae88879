"""The usual baseline in PyTorch: embeddings, mini-batches, an optimizer.

The loss of a batch is the sum over its ratings of e^2 / 2 + reg / 2 (|p|^2 + |q|^2 + b^2 + c^2): with the optimizer
sgd and batches of one rating that is sgd_serial with the same numbers. Sums, not means: a larger batch wants a smaller
rate with sgd, and does not care with adam.
"""

import time
import types

import mfpeer
import numpy

# The size of the data that it warms up on: large enough for every kernel, small enough for no time.
WARM_USERS, WARM_ITEMS = 32, 16


class Sgd:
    each_epoch = True
    starts_from = "mfbench"

    def __init__(self, task):
        import torch
        self.torch, self.task, self.params = torch, task, task.params
        if self.params["device"] == "cuda" and not torch.cuda.is_available():
            raise mfpeer.Unsupported("PyTorch finds no CUDA device")
        torch.set_num_threads(task.threads)
        self.device = torch.device(self.params["device"])

    def warm_up(self):
        """An epoch on a rating of each pair: loads PyTorch's imports of a first optimizer, the context, the kernels."""
        user, item = (ids.ravel() for ids in numpy.indices((WARM_USERS, WARM_ITEMS)))
        toy = {"n_users": WARM_USERS, "n_items": WARM_ITEMS, "user": user, "item": item, "value": user % 5 + 1.0}
        toy |= {f"initial_{name}": numpy.full((rows, self.task.factors), 0.1)
                for name, rows in (("p", WARM_USERS), ("q", WARM_ITEMS))}
        self.convert(types.SimpleNamespace(**toy, model=self.task.model))
        self.train(1, 0.0)
        self.model()
        if self.device.type == "cuda":
            self.torch.cuda.reset_peak_memory_stats()
        self.torch.manual_seed(self.task.seed)  # the numbers of the case begin here

    def make_optimizer(self, tables):
        make = self.torch.optim.Adam if self.params["optimizer"] == "adam" else self.torch.optim.SGD
        return make(tables, lr=0.0)

    def describe(self):
        return self.torch.__version__, {"cuda": self.torch.version.cuda or "none", "device": self.params["device"],
                                        "capability": self.torch.backends.cpu.get_cpu_capability()}

    def convert(self, task):
        torch = self.torch

        def here(values, dtype):
            return torch.from_numpy(numpy.array(values, dtype=dtype)).to(self.device)
        self.user, self.item = here(task.user, numpy.int64), here(task.item, numpy.int64)
        self.value = here(task.value, numpy.float32)
        self.tables = [here(task.initial_p, numpy.float32), here(task.initial_q, numpy.float32)]
        if task.model == "biased":
            self.tables += [torch.zeros(n, 1, device=self.device) for n in (task.n_users, task.n_items)]
        for table in self.tables:
            table.requires_grad_(True)
        self.optimizer = self.make_optimizer(self.tables)

    def loss(self, batch):
        user, item = self.user[batch], self.item[batch]
        rows = [table[index] for table, index in zip(self.tables, (user, item, user, item))]
        error = self.value[batch] - (rows[0] * rows[1]).sum(1)
        if len(rows) > 2:
            error = error - self.task.mean - (rows[2] + rows[3]).squeeze(1)
        return 0.5 * (error.square().sum() + self.params["reg"] * sum(row.square().sum() for row in rows))

    def train(self, epoch, learning_rate):
        start = time.perf_counter()
        for group in self.optimizer.param_groups:
            group["lr"] = learning_rate
        order = self.torch.randperm(len(self.value), device=self.device)
        for batch in order.split(self.params["batch"]):
            self.optimizer.zero_grad(set_to_none=True)
            self.loss(batch).backward()
            self.optimizer.step()
        if self.device.type == "cuda":
            self.torch.cuda.synchronize()
        return time.perf_counter() - start

    def model(self):
        p, q, *biases = [table.detach().cpu().numpy() for table in self.tables]
        names = dict(zip(("user_bias", "item_bias"), (bias[:, 0] for bias in biases)))
        return {"p": p, "q": q, **names, **({"mean": self.task.mean} if biases else {})}

    def account(self):
        used = self.torch.cuda.max_memory_allocated() if self.device.type == "cuda" else 0
        return {"peak_device_bytes": used} if used else {}


mfpeer.run("torch", Sgd)
