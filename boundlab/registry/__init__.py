"""Find registered objects by kind and id: what is built in, what other packages add, and files that a user names."""

from boundlab.registry._command import command_line as command_line
from boundlab.registry._registry import TYPES as TYPES
from boundlab.registry._registry import WORDS as WORDS
from boundlab.registry._registry import Registration as Registration
from boundlab.registry._registry import beside as beside
from boundlab.registry._registry import catalogue as catalogue
from boundlab.registry._registry import choices as choices
from boundlab.registry._registry import find as find
from boundlab.registry._registry import lookup as lookup
from boundlab.registry._registry import registered as registered
from boundlab.registry._sources import BUILT_IN as BUILT_IN
from boundlab.registry._sources import KINDS as KINDS
from boundlab.registry._sources import VARIABLE as VARIABLE
from boundlab.registry._sources import Kind as Kind
from boundlab.registry._sources import files as files
from boundlab.registry._sources import load_plugin as load_plugin
from boundlab.registry._sources import message as message
from boundlab.registry._sources import only_built_in as only_built_in
from boundlab.registry._sources import owners as owners
from boundlab.registry._sources import running as running
from boundlab.registry._sources import using as using
from boundlab.registry._sources import value_of as value_of
from boundlab.registry._travel import BuiltFromWords as BuiltFromWords
from boundlab.registry._travel import built_by as built_by
from boundlab.registry._travel import by_id as by_id
