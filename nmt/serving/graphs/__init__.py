"""Text inside TensorFlow graphs, for models that are served without this program."""
