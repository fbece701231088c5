"""What the user sees of a run."""
