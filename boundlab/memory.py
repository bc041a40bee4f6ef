"""How much memory there is: what does not fit is refused before it is begun."""

from pathlib import Path

SHARE = 0.8  # of the free memory that registers may take


def free_bytes() -> int | None:
    """Return the memory that programs can still have here, or None where that is not known."""
    found = [value for value in (_machine(), _container()) if value is not None]
    return min(found, default=None)


def words(count: float) -> str:
    """Return a number of bytes for people: '1.6 GB'."""
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count:.0f} bytes"


def _machine() -> int | None:
    """Return what the kernel says is available, caches that it can drop included."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        return next(1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))
    except (OSError, ValueError, StopIteration):
        return None


def _container() -> int | None:
    """Return what a container's own limit leaves, where it has one (cgroups of version 2)."""
    folder = Path("/sys/fs/cgroup")
    try:
        limit = (folder / "memory.max").read_text(encoding="ascii").strip()
        return None if limit == "max" else int(limit) - int((folder / "memory.current").read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None
