"""What can go wrong with the vendor's data.

FeedError
├── SourceRefused   the vendor answered with an error that another try would not change; carries its status and text
├── SourceAway      no usable answer after all retries
└── SliceDamaged    a slice is not what it should be
"""

from __future__ import annotations


class FeedError(Exception):
    pass


class SourceRefused(FeedError):
    def __init__(self, status: int, text: str, url: str) -> None:
        super().__init__(f"HttpError: status code: {status}, response text: {text}")
        self.status, self.text, self.url = status, text, url


class SourceAway(FeedError):
    pass


class SliceDamaged(FeedError):
    pass
