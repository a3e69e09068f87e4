"""Every metric of the product, once: `tardis_<part>_<what>[_total|_bytes|_seconds]`."""

from tardis_telemetry.metrics import counter, gauge, histogram

GATEWAY_HTTP_REQUESTS = counter("tardis_gateway_http_requests_total", "HTTP requests answered.", "route", "status")
GATEWAY_REPLAYS_ACTIVE = gauge("tardis_gateway_replays_active", "Replays that are running now.")
GATEWAY_REPLAY_MESSAGES = counter("tardis_gateway_replay_messages_total", "Messages sent by replays.", "route")
GATEWAY_REPLAY_CHUNKS = counter("tardis_gateway_replay_chunks_total", "Chunks that workers handed to the event loop.", "route")
GATEWAY_RESPONSE_BYTES = counter("tardis_gateway_response_bytes_total", "Bytes of response bodies.", "route")

SLICES_FETCHED = counter("tardis_slices_fetched_total", "Slices fetched from the market data API.", "exchange")
SLICES_FETCHED_BYTES = counter("tardis_slices_fetched_bytes_total", "Compressed bytes of fetched slices.", "exchange")
SLICES_CACHE_HITS = counter("tardis_slices_cache_hits_total", "Slices found in the cache.", "exchange")
SLICES_RETRIES = counter("tardis_slices_retries_total", "Fetches of a slice that were tried again.", "exchange", "reason")

SPOOL_APPENDED_BYTES = counter("tardis_spool_appended_bytes_total", "Bytes appended to the write-ahead spool.")
SPOOL_GROUPS = counter("tardis_spool_groups_total", "Groups of packs appended to the spool.")
SPOOL_SEGMENTS = gauge("tardis_spool_segments", "Segment files of the spool.")
SPOOL_DAMAGED = counter("tardis_spool_damaged_total", "Places of the spool that were not readable and passed over.")
SPOOL_DISK_BYTES = gauge("tardis_spool_disk_bytes", "Bytes of the spool on disk.")

HANDOFF_PACKS_FORWARDED = counter("tardis_handoff_packs_forwarded_total", "Packs that the queue confirmed.", "backend")
HANDOFF_EVENTS_FORWARDED = counter("tardis_handoff_events_forwarded_total", "Events in packs that the queue confirmed.", "backend")
HANDOFF_FORWARD_FAILURES = counter("tardis_handoff_forward_failures_total", "Packs the queue did not take at first try.", "backend")
HANDOFF_EVENTS_GAP = counter("tardis_handoff_events_gap_total", "Events given up on the way to the queue.", "backend")
HANDOFF_CONNECTED = gauge("tardis_handoff_connected", "1 while the queue is connected.")

PUBLISHER_EVENTS_RECEIVED = counter("tardis_publisher_events_received_total", "Events taken from the queue.", "backend")
PUBLISHER_EVENTS_PUBLISHED = counter("tardis_publisher_events_published_total", "Events the backend confirmed.", "backend")
PUBLISHER_EVENTS_DEAD_LETTERED = counter(
    "tardis_publisher_events_dead_lettered_total", "Events set aside as poison.", "backend", "reason"
)
PUBLISHER_EVENTS_REPEATED = counter(
    "tardis_publisher_events_repeated_total", "Events received again after a redelivery.", "backend"
)
PUBLISHER_EVENTS_GIVEN_BACK = counter(
    "tardis_publisher_events_given_back_total", "Events left to the queue, which delivers them again.", "backend"
)
PUBLISHER_PACKS_DEAD_LETTERED = counter(
    "tardis_publisher_packs_dead_lettered_total", "Packs set aside undecoded; their events are not received.", "backend", "reason"
)
PUBLISHER_EVENTS_IN_FLIGHT = gauge("tardis_publisher_events_in_flight", "Events taken but not settled yet.", "backend")
PUBLISHER_RETRIES = counter("tardis_publisher_retries_total", "Sends that were tried again.", "backend")
PUBLISHER_BATCHES = counter("tardis_publisher_batches_total", "Batches sent to the backend.", "backend")
PUBLISHER_LAG_PACKS = gauge("tardis_publisher_lag_packs", "Packs waiting in the queue.", "backend", "lane")
PUBLISHER_PUBLISH_SECONDS = histogram(
    "tardis_publisher_publish_seconds", "Time from sending a batch to its confirmation.", "backend"
)

SIMULATOR_REQUESTS = counter("tardis_simulator_requests_total", "Requests to the simulated market data API.", "route", "status")
