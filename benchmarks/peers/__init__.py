"""The same model in other programs; each module runs in a virtual environment of its own."""
