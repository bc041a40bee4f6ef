"""A figure of what trials in lock step reach."""

from pathlib import Path
from typing import Any

_STYLES = {"fused": ("o", "-", "black"), "eager": ("s", "--", "#5b7ea4"), "numpy": ("^", ":", "#b0713a")}


def draw(found: dict[str, Any], path: Path) -> Path:
    """Draw events a second over the dimension, one panel a number of replicas.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    what = found["lines"][0]["what"]
    lines = [line for line in found["lines"] if line["rates"] and line["what"] == what]
    counts = sorted({line["replicas"] for line in lines})
    figure, axes = plt.subplots(1, len(counts), figsize=(3.2 * len(counts) + 0.8, 3.6), sharey=True, squeeze=False)
    for axis, count in zip(axes[0], counts, strict=True):
        own = sorted((line for line in lines if line["replicas"] == count), key=lambda line: line["d"])
        for way, (marker, style, colour) in _STYLES.items():
            some = [(line["d"], line["rates"][way]) for line in own if way in line["rates"]]
            if some:
                label = {"fused": "Triton kernel", "eager": "torch, eager", "numpy": "NumPy, one replica"}[way]
                axis.plot(*zip(*some, strict=True), marker=marker, linestyle=style, color=colour, label=label)
        limit = [(line["d"], found["copy_bandwidth"] / line["bytes_an_event"]) for line in own]
        axis.plot(*zip(*limit, strict=True), color="0.6", linewidth=1, label="copy bandwidth")
        axis.set(xscale="log", yscale="log", title=f"R = {count}", xlabel="dimension d")
        axis.grid(visible=True, which="major", color="0.9")
    axes[0][0].set_ylabel("client updates a second, all replicas")
    axes[0][-1].legend(fontsize=8)
    figure.suptitle(f"{what}: {found['device']}", fontsize=10)
    figure.tight_layout()
    figure.savefig(path, dpi=150)
    plt.close(figure)
    return path
