"""Where time goes: words per second, arithmetic, phases, traces."""
