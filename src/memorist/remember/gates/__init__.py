"""Write gates: what every text passes on its way in."""

from memorist.remember.gates.gates import NOT_KEPT, VERB, Checked, Gates
from memorist.remember.gates.verdict import CHOICES, Gate, GateContext, Policy, Verdict, held, released

__all__ = [
    "CHOICES",
    "NOT_KEPT",
    "VERB",
    "Checked",
    "Gate",
    "GateContext",
    "Gates",
    "Policy",
    "Verdict",
    "held",
    "released",
]
