"""Where variables live and how replicas agree on the next update."""
