-- What may stand for an account's default sender, the oldest of each sort (server/senders/candidates.ts): a message of an account with fifty
-- thousand numbers read all of them.
create index senders_alike on senders (account_id, kind, coalesce(country, ''), capabilities, id);
