"""Processor, devices, and what must be set before TensorFlow is imported."""
