"""The model: its weights, layers, attention and loss."""
