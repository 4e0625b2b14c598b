"""The assets, a module per stage of the way of a trial: registry, hosts, runs, site, publishing, contributions."""

from benchpipe.pipeline.assets.contributions import (
    TRAJECTORIES,
    contribution_pages,
    dataset_reports,
    result_rows,
    submission_reports,
    submissions,
)
from benchpipe.pipeline.assets.hosts import host_trials
from benchpipe.pipeline.assets.publishing import published_snapshot, run_media
from benchpipe.pipeline.assets.registry import agent_registry, benchmark_registry, price_list
from benchpipe.pipeline.assets.runs import cost_estimates, run_scopes, run_states, status_json, trial_logs
from benchpipe.pipeline.assets.site import site_overview, site_pages

ASSETS = [
    agent_registry,
    price_list,
    benchmark_registry,
    host_trials,
    run_scopes,
    run_states,
    cost_estimates,
    trial_logs,
    status_json,
    site_pages,
    site_overview,
    published_snapshot,
    run_media,
    submissions,
    submission_reports,
    result_rows,
    contribution_pages,
    dataset_reports,
    *TRAJECTORIES,
]
