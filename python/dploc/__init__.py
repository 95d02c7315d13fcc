"""dploc: publish synthetic trips instead of private ones, with a true epsilon.

    import dploc
    trips = dploc.synth(frame, region="sf", epsilon=1)    # a frame of the same kind
    dploc.certificate(trips)                              # what was promised

`help(dploc.synth)` has the keywords: every option of the command line, with underscores.
"""

from .core import Model, certificate, fit, synth
from .certificates import Certificate
from .errors import (BadDataError, DplocError, Interrupted, RefusedError, SystemFailure, UsageError)
from .judge import Attack, Evaluation, Inspection, attack, evaluate, inspect, report
from .public import account, measures, methods, regions, simulate
from .library import lib as _lib

__version__ = _lib.dpl_version().decode()
__all__ = ["Attack", "BadDataError", "Certificate", "DplocError", "Evaluation", "Inspection",
           "Interrupted", "Model", "RefusedError", "SystemFailure", "UsageError", "account",
           "attack", "certificate", "evaluate", "fit", "inspect", "measures", "methods", "regions",
           "report", "simulate", "synth"]
