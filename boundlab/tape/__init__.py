"""The tape: what an algorithm compiles events to, how it is written, and what is read off it."""

from boundlab.tape._tape import (
    NOTHING as NOTHING,
    SERVER_MODEL as SERVER_MODEL,
    Affine as Affine,
    Descend as Descend,
    Identity as Identity,
    Initial as Initial,
    Op as Op,
    Record as Record,
    RecordAt as RecordAt,
    Tape as Tape,
    Term as Term,
    Uses as Uses,
    Writer as Writer,
    verify as verify,
    verify_identities as verify_identities,
)
from boundlab.tape._usage import (
    Statistics as Statistics,
    Usage as Usage,
    arrivals as arrivals,
    arrived as arrived,
    common_lag as common_lag,
    constant_lag as constant_lag,
    recycle as recycle,
    shares as shares,
    staleness as staleness,
    statistics as statistics,
    usage as usage,
)
