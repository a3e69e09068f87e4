"""What the vendor says about exchanges and their instruments."""

from tardis_simulator.feeds import FEEDS
from tardis_simulator.recipe import Recipe

SINCE = "2019-03-30T00:00:00.000Z"
UNTIL = "2099-01-01T00:00:00.000Z"


def exchanges() -> list[dict[str, object]]:
    return [_exchange(name) for name in FEEDS]


def exchange_details(name: str, recipe: Recipe) -> dict[str, object]:
    feed = FEEDS[name]
    symbols = [{"id": s.name, "type": feed.instrument(s)["type"], "availableSince": SINCE} for s in recipe.symbols(name)]
    return {
        **_exchange(name),
        "availableChannels": list(feed.channels),
        "availableSymbols": symbols,
        "incidentReports": [],
        "channelDetails": [
            {"name": c, "description": c, "frequency": "real-time", "frequencySource": "", "availableSince": SINCE}
            for c in feed.channels
        ],
        "datasets": {
            "formats": ["csv"],
            "exportedFrom": SINCE,
            "exportedUntil": SINCE,
            "stats": {"trades": 0, "bookChanges": 0},
            "symbols": [],
        },
    }


def instruments(name: str, recipe: Recipe) -> list[dict[str, object]]:
    feed = FEEDS[name]
    return [
        {
            "id": symbol.name,
            "datasetId": symbol.name.upper(),
            "exchange": name,
            "active": True,
            "availableSince": SINCE,
            "priceIncrement": symbol.tick,
            **feed.instrument(symbol),
        }
        for symbol in recipe.symbols(name)
    ]


def key_info() -> list[dict[str, object]]:
    """The access of a key that sees everything."""
    return [{"exchange": name, "accessType": "subscription", "from": SINCE, "to": UNTIL, "symbols": []} for name in FEEDS]


def _exchange(name: str) -> dict[str, object]:
    return {"id": name, "name": name.title(), "enabled": True, "availableSince": SINCE}
