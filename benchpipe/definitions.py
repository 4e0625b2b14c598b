"""What Dagster loads: explicit lists, nothing discovered. Importing it reads no file and loads no heavy library."""

import dagster as dg

from benchpipe.pipeline.assets import ASSETS
from benchpipe.pipeline.checks import CHECKS
from benchpipe.pipeline.jobs import JOBS
from benchpipe.pipeline.scene import SceneResource
from benchpipe.pipeline.schedules import SCHEDULES
from benchpipe.pipeline.sensors import SENSORS

defs = dg.Definitions(
    assets=ASSETS,
    asset_checks=CHECKS,
    jobs=JOBS,
    sensors=SENSORS,
    schedules=SCHEDULES,
    resources={"scene": SceneResource()},
    executor=dg.in_process_executor,
)
