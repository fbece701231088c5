"""What a run leaves on disk: checkpoints, and the models they hold."""
