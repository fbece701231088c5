"""A model as a SavedModel that needs nothing of this project."""
