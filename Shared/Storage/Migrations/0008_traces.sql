-- A change on its way to subscriptions.changed names the trace that the notification came in, so that whoever reads the
-- topic can follow it back to the request of Apple's. Kept for that way only: what is published has forgotten it.

alter table timeline add column traceparent text; -- W3C trace context; null once published
