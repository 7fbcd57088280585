"""Load on a running stack, from processes of its own, so that the client is not what is measured."""

from inference.bench.load.plan import LoadPlan
from inference.bench.load.run import LoadRun
from inference.bench.load.sample import ClientHealth, Sample
from inference.bench.load.window import Window

__all__ = ["ClientHealth", "LoadPlan", "LoadRun", "Sample", "Window"]
