"""Measures training against other programs, and what it costs as the work grows."""
