"""Everything that knows Dagster: assets, checks, sensors, jobs. Thin: read inputs, call one plain function, say what happened."""
