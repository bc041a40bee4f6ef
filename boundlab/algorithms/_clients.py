"""Clients that always work on one update: what the arrival-driven algorithms share."""

from boundlab.algorithms._steps import LocalSteps
from boundlab.tape import SERVER_MODEL, Writer


class Workers:
    """One update in work for each client; results lie in registers that change hands instead of being copied.

    Parameters
    ----------
    spare
        How many results the server may hold at a time.
    models
        Whether a result is the client's model y, or the difference y − x to the model x it started from.
    """

    def __init__(self, writer: Writer, clients: int, local: LocalSteps, spare: int, *, models: bool = False) -> None:
        self.writer, self.local, self.models = writer, local, models
        first = writer.register(count=clients + spare)
        self.free = list(range(first, first + clients + spare))[::-1]
        self.result = [-1] * clients
        self.run = [-1] * clients
        self.version = [0] * clients

    def begin(self, client: int) -> None:
        """Hand the present model to a client."""
        writer, to = self.writer, self.free.pop()
        self.run[client] = writer.descend(to, SERVER_MODEL, client, self.local.steps, self.local.first)
        if not self.models:
            writer.affine(to, (1.0, to), (-1.0, SERVER_MODEL))
        self.result[client], self.version[client] = to, writer.version

    def take(self, client: int) -> tuple[int, int, int]:
        """Receive the client's update: return its run, the register of the result, and its staleness."""
        run, register = self.run[client], self.result[client]
        self.run[client] = -1
        self.writer.arrive(run)
        return run, register, self.writer.version - self.version[client]

    def late(self, client: int, stalest: int | None) -> bool:
        """Return whether the client's update would be staler than that now; None: none is."""
        return stalest is not None and self.writer.version - self.version[client] > stalest

    def restart(self, client: int, *, stopped: bool = False) -> None:
        """Ignore the client's update, whether it is done or stopped, and hand the client the present model."""
        run, register, _ = self.take(client)
        self.writer.note("dropped", run)
        if stopped:
            self.writer.note("stopped", run)
        self.release(register)
        self.begin(client)

    def release(self, register: int) -> None:
        """Give a register back."""
        self.free.append(register)
