"""The translation model and the run that trains it."""
