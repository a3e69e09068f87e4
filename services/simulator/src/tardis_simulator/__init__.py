"""A stand-in for the vendor's market data API: same routes, same errors, made-up data that is the same everywhere."""

__version__ = "0.1.0"
