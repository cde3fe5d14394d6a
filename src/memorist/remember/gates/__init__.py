"""Write gates: what every text passes on its way in."""

from memorist.remember.gates.gates import NOT_KEPT, VERB, Checked, Gates
from memorist.remember.gates.keepsake import held, released
from memorist.remember.gates.policy import CHOICES, Policy
from memorist.remember.gates.verdict import Context, Gate, Verdict

__all__ = [
    "CHOICES",
    "NOT_KEPT",
    "VERB",
    "Checked",
    "Context",
    "Gate",
    "Gates",
    "Policy",
    "Verdict",
    "held",
    "released",
]
