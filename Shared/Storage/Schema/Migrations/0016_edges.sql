-- At the edges: what the operator is told, what an erasure leaves behind, and what one transaction does to others.

-- Notifications of version 1, which have no signature and change no state: almost none, and the operator is told of the latest.
create index notification_of_version1 on notification (recorded_at) where notification_type = 'V1';
