-- Contacts at rest. Where the installation encrypts content, names, external id, attributes and consent of a contact are one sealed value
-- (contacts.sealed), and their columns are empty. external_id_hmac: the keyed hash of account and external id, by which a sealed one is found.
alter table contacts add column external_id_hmac bytea;
create index contacts_external_id_hmac on contacts (account_id, campaign_id, external_id_hmac, id) where external_id_hmac is not null;

-- A key is destroyed when both have been gone through: texts_swept_at, all messages of the account have a later one; contacts_swept_at, all contacts.
-- Contacts up to (contacts_campaign_id, contacts_swept_to) have been. For the current key it says that those which were plain are sealed.
alter table data_keys
  add column texts_swept_at timestamptz,
  add column contacts_campaign_id uuid,
  add column contacts_swept_to uuid,
  add column contacts_swept_at timestamptz;

-- Keys whose contacts have yet to be gone through; data_keys_retired serves the texts.
create index data_keys_contacts on data_keys (retired_at) where wrapped is not null and contacts_swept_at is null;

-- Ids of the master keys that a process knows, that which seals first: the key is replaced when all know the next.
alter table heartbeats add column master_keys text[] not null default '{}';
