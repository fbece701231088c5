"""Translating: beam search over a trained model."""
