-- The filter by contact: what never changes in a message, and only where it has one. A list by it reads as one by campaign does.
create index messages_contact on messages (account_id, contact_id, id) where contact_id is not null;
