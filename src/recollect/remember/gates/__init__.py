"""Write gates: what every text passes on its way in."""

from recollect.remember.gates.gates import NOT_KEPT, VERB, Checked, Gates
from recollect.remember.gates.keepsake import held, released
from recollect.remember.gates.policy import CHOICES, Policy
from recollect.remember.gates.verdict import Context, Gate, Verdict

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
