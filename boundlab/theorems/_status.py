"""Where a statement is from: its status, and what a file was written from."""

from collections.abc import Mapping
from typing import Final, Literal, get_args

Status = Literal["as printed", "recovered, not compared with the print", "repaired", "derived here", "textbook", "user"]
STATUSES: Final[tuple[Status, ...]] = get_args(Status)
"""``recovered``: the text at hand has lost the formula; ``textbook``: true, with a proof in books; ``user``: a file."""

OF_PAPERS: Final = STATUSES[:2]
"""What a paper says itself: it need not be true."""

Origin = Literal["", "print", "memory", "own"]
ORIGINS: Final[Mapping[str, str]] = {
    "print": "compared with the print",
    "memory": "from memory, not compared with the print",
    "own": "our own, under the paper's name",
}
"""What a file says under ``source``, in words."""
