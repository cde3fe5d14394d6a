import sys, os
from dataclasses import replace
from pathlib import Path
import torch
import train
from feed import Plan
from fit import Settings
from recipe import Workshop
from reranking import Lengths, learn_rerankers

small = "--small" in sys.argv
root = Path(__file__).parents[1]
made = Path(sys.argv[1])
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.backends.cuda.matmul.allow_tf32 = True
models = root / "packages/memorist-models/src/memorist_models"
plan = train.SMALL_PLAN if small else replace(Plan(), workers=max(0, (os.cpu_count() or 1) - 2))
if small:
    lengths = Lengths(Settings(1, 1e-4, binary=1.0, seconds=20), Settings(1, 3e-4, binary=1.0, distilled=0.7, seconds=20))
else:
    lengths = Lengths()
shop = Workshop(root / "build/given", made, models / "memorist-rerank-1/model.onnx", device, plan, small=small)
learn_rerankers(shop, lengths)
