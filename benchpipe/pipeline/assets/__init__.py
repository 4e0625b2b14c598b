"""The assets, a module per stage of the way of a trial: registry, hosts, runs, site, publishing, contributions."""
