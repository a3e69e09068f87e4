"""The backends, each loaded only when it is configured."""
