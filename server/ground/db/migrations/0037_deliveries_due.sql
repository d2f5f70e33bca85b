-- What is due to an SMPP client, the longest first. By the primary key, a claim went through everything that the client had refused and that
-- waits to come again, five times a second.
create index smpp_deliveries_due on smpp_deliveries (account_id, credential_id, due_at, id, part);
