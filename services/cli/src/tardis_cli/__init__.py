"""The tardis command."""
