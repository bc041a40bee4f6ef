"""MARINA with a compressor that sends a message with probability keep: an algorithm that draws and does not declare it."""

from dataclasses import dataclass

import numpy as np

from boundlab.algorithms import Algorithm, Parameters, option
from boundlab.events import Events
from boundlab.randomness import Stream
from boundlab.tape import SERVER_MODEL, Writer


def mean_terms(writer, own, clients, alpha):
    for i in range(clients):
        writer.descend(own + i, SERVER_MODEL, i, 1, alpha)
    return [*[(1.0 / clients, own + i) for i in range(clients)], (-1.0, SERVER_MODEL)]


@dataclass(frozen=True, slots=True)
class MarinaParameters(Parameters):
    alpha: float = option.number("step size", above=0.0)
    prob: float = option.number("probability of a full round", above=0.0, maximum=1.0)
    keep: float = option.number(
        "a client's message is sent with this probability, and divided by it", above=0.0, maximum=1.0
    )


class Marina(Algorithm):
    """MARINA (Gorbunov, Burlachenko, Li, Richtárik 2021) with the compressor v/keep with probability keep, else 0."""

    id, summary, parameter_type = (
        "marina",
        "compressed gradient differences, sometimes full gradients",
        MarinaParameters,
    )

    def sample(self, parameters, delays, policy, streams, clients, count):
        u = streams.uniforms(Stream.SCHEDULE, 0, 0, count * (1 + clients))[0].reshape(count, 1 + clients)
        limit = np.array([parameters.prob] + [parameters.keep] * clients)
        detail = tuple(tuple(int(c) for c in row) for row in u < limit)
        return Events(np.arange(1.0, count + 1), np.zeros(count, dtype=np.int32), detail)

    def schedule(self, parameters, events, clients, records, iterations):
        writer = Writer(events, clients, records, iterations)
        own, move, old = writer.register(count=clients), writer.register(), writer.register()
        writer.affine(move, *mean_terms(writer, own, clients, parameters.alpha))
        for event in range(len(events)):
            if writer.done:
                break
            writer.begin(event)
            writer.affine(old, (1.0, SERVER_MODEL))
            writer.server_update((1.0, move))
            full, *sent = events.detail[event]
            if full:
                writer.affine(move, *mean_terms(writer, own, clients, parameters.alpha))
            else:
                scale = 1.0 / (clients * parameters.keep)
                for i in (i for i in range(clients) if sent[i]):
                    writer.descend(own, SERVER_MODEL, i, 1, parameters.alpha)
                    writer.affine(move, (1.0, move), (scale, own), (-scale, SERVER_MODEL))
                    writer.descend(own, old, i, 1, parameters.alpha)
                    writer.affine(move, (1.0, move), (-scale, own), (scale, old))
            writer.end()
        return writer.tape()


BOUNDLAB = {"algorithms": Marina()}
