"""The hash of a statement, by which a proof file names its theorem."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any


def digest(statement: Mapping[str, Any]) -> str:
    """Return the SHA-256 hash of a statement, in hexadecimal digits: that of its JSON with sorted keys."""
    text = json.dumps(statement, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
