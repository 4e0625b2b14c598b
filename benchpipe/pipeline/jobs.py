"""The jobs, with the names that people and scripts call (A3)."""

import dagster as dg

REGISTRY = ("agent_registry", "price_list", "benchmark_registry")
COLLECT = ("run_scopes", "run_states", "cost_estimates", "trial_logs", "site_pages", "status_json", "site_overview")
CONTRIBUTIONS = ("submissions", "submission_reports", "result_rows", "contribution_pages", "dataset_reports")


def _select(*names: str) -> dg.AssetSelection:
    return dg.AssetSelection.assets(*names).without_checks()


registry = dg.define_asset_job(
    "registry",
    selection=dg.AssetSelection.assets(*REGISTRY),
    description="Read what people wrote, run definitions, prices and benchmarks, and check it against every rule.",
)
poll_hosts = dg.define_asset_job(
    "poll_hosts", selection=_select("host_trials"), description="Ask one host what its job directories hold."
)
collect = dg.define_asset_job(
    "collect",
    selection=_select(*COLLECT),
    description="From the hosts' readings to states, money, log pages and pages of one benchmark, and what sums all up.",
)
sum_up = dg.define_asset_job(
    "sum_up",
    selection=_select("status_json", "site_overview"),
    description="What sums all benchmarks up: status.json and the pages over all of them.",
)
build_site = dg.define_asset_job(
    "build_site",
    selection=_select("site_pages", "site_overview"),
    description="The pages of one benchmark and the pages over all of them.",
)
publish = dg.define_asset_job(
    "publish",
    selection=_select("published_snapshot"),
    description="Write one benchmark's part of the redacted, scanned snapshot.",
)
contributions = dg.define_asset_job(
    "contributions",
    selection=_select(*CONTRIBUTIONS),
    description="Check what outsiders contributed to one dataset, and make its rows and pages.",
)
trajectories = dg.define_asset_job(
    "trajectories",
    selection=_select("trajectory_downloads", "trajectory_checks", "trajectory_replays", "trajectory_mirrors"),
    description="Fetch, check, replay and mirror the trajectories that one dataset's submissions link. Asks the network.",
)
check = dg.define_asset_job(
    "check", selection=dg.AssetSelection.all_asset_checks(), description="Every rule of `benchpipe check` as an asset check."
)

JOBS = [registry, poll_hosts, collect, sum_up, build_site, publish, contributions, trajectories, check]
