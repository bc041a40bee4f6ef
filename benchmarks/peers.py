"""A run of FedBuff in APPFL's simulator, and the same one here: seconds of a processor a local step.

APPFL is not among what boundlab installs. In a virtual environment of its own, with ``pip install appfl==1.12.0``:

    OMP_NUM_THREADS=1 python benchmarks/peers.py appfl

and in ours

    OMP_NUM_THREADS=1 python benchmarks/peers.py boundlab

Both train softmax regression on scikit-learn's digits: 20 clients with 64 or 65 images each, five steps of SGD on
mini-batches of 32 a visit, 10 visits an update of the server, one trial. APPFL's loop is its own: AsyncSimDriver with
its trainer and its FedBuff, at logging switched off; only the agents, which read configuration files, are stood in for.
"""

import argparse
import logging
import sys
import time
from types import SimpleNamespace
from typing import Any

CLIENTS, STEPS, BATCH, BUFFER, UPDATES, RATE = 20, 5, 32, 10, 50, 0.05


def appfl() -> float:
    """Return the seconds a local step in APPFL's simulator."""
    import torch
    from appfl.algorithm.aggregator import FedBuffAggregator
    from appfl.algorithm.trainer import VanillaTrainer
    from appfl.vsim import AsyncSimDriver, ClientProfile
    from omegaconf import OmegaConf
    from sklearn.datasets import load_digits

    torch.set_num_threads(1)
    quiet = logging.getLogger("peers")
    quiet.setLevel(logging.CRITICAL)
    for name in ("log_title", "set_title", "log_content", "log_banner"):
        setattr(quiet, name, lambda *_, **__: None)
    images, labels = load_digits(return_X_y=True)
    features, targets = torch.as_tensor(images / 16.0, dtype=torch.float32), torch.as_tensor(labels)
    words = {
        "mode": "step",
        "num_local_steps": STEPS,
        "optim": "SGD",
        "optim_args": {"lr": RATE},
        "train_batch_size": BATCH,
        "device": "cpu",
        "optimize_memory": False,  # it collects garbage at each visit, which takes fifty times as long as the steps
    }

    def client(number: int) -> Any:
        own = torch.utils.data.TensorDataset(features[number::CLIENTS], targets[number::CLIENTS])
        trainer = VanillaTrainer(
            model=torch.nn.Linear(64, 10),
            loss_fn=torch.nn.CrossEntropyLoss(),
            metric=lambda true, predicted: float((predicted.argmax(axis=1) == true).mean()),
            train_dataset=own,
            train_configs=OmegaConf.create(words),
            logger=quiet,
        )
        return SimpleNamespace(
            get_id=lambda: str(number),
            load_parameters=trainer.load_parameters,
            train=trainer.train,
            get_parameters=trainer.get_parameters,
        )

    model = torch.nn.Linear(64, 10)
    settings = {"K": BUFFER, "alpha": 1.0, "client_weights_mode": "equal", "optimize_memory": False}
    server = FedBuffAggregator(model, OmegaConf.create(settings), quiet)
    agent = SimpleNamespace(
        get_parameters=lambda **_: {name: value.clone() for name, value in model.state_dict().items()},
        global_update=lambda client_id, local_model, **_: server.aggregate(client_id, local_model),
        training_finished=lambda: server.global_step >= UPDATES,
        scheduler=SimpleNamespace(get_num_global_epochs=lambda: server.global_step),
    )
    profiles = {str(number): ClientProfile(1.0 + number % 3) for number in range(CLIENTS)}
    driver = AsyncSimDriver(
        agent, [client(number) for number in range(CLIENTS)], profiles, CLIENTS, quiet, base_step_time=1.0
    )
    began = time.process_time()
    driver.run()
    return (time.process_time() - began) / (len(driver.history) * STEPS)


def boundlab() -> float:
    """Return the seconds a local step here, events and tape included."""
    import boundlab as bl

    problem = bl.problem(f"softmax:data=digits,clients={CLIENTS},partition=iid,batch={BATCH}")
    delays = bl.delays("exponential:spread=3", CLIENTS)
    words = {"eta_l": RATE, "M": STEPS, "count": BUFFER}
    began = time.process_time()
    bl.run("fedbuff", problem, delays, iterations=UPDATES, trials=1, settings=words)
    return (time.process_time() - began) / (UPDATES * BUFFER * STEPS)


def main() -> None:
    """Measure five times and print the least, the median and the most."""
    known = {"appfl": appfl, "boundlab": boundlab}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("whose", choices=known)
    whose = parser.parse_args().whose
    least, _, median, _, most = sorted(known[whose]() for _ in range(5))
    each = " / ".join(f"{one * 1e6:.1f}" for one in (least, median, most))
    sys.stdout.write(f"{whose}: {each} µs a local step (least / median / most of 5)\n")


if __name__ == "__main__":
    main()
