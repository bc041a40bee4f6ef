"""The tape: what an algorithm compiles events to, how it is written, and what is read off it."""

from boundlab.tape._records import NOTHING as NOTHING
from boundlab.tape._records import RecordAt as RecordAt
from boundlab.tape._recycle import recycle as recycle
from boundlab.tape._statistics import Statistics as Statistics
from boundlab.tape._statistics import arrived as arrived
from boundlab.tape._statistics import shares as shares
from boundlab.tape._statistics import staleness as staleness
from boundlab.tape._statistics import statistics as statistics
from boundlab.tape._tape import Affine as Affine
from boundlab.tape._tape import Descend as Descend
from boundlab.tape._tape import Identity as Identity
from boundlab.tape._tape import Initial as Initial
from boundlab.tape._tape import Op as Op
from boundlab.tape._tape import Record as Record
from boundlab.tape._tape import Tape as Tape
from boundlab.tape._tape import Uses as Uses
from boundlab.tape._usage import Usage as Usage
from boundlab.tape._usage import arrivals as arrivals
from boundlab.tape._usage import usage as usage
from boundlab.tape._verify import verify as verify
from boundlab.tape._verify import verify_identities as verify_identities
from boundlab.tape._writer import SERVER_MODEL as SERVER_MODEL
from boundlab.tape._writer import Term as Term
from boundlab.tape._writer import Writer as Writer
