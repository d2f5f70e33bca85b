/** The rival's table, with a message's columns and only a primary key. */
export const plainTable = `
  create table if not exists naive_messages (
    account_id uuid not null,
    id uuid not null,
    direction text not null,
    type text not null,
    status text not null,
    recipient text not null,
    sender text not null,
    body text not null,
    encoding text not null,
    characters int not null,
    segments int not null,
    metadata jsonb,
    tags text[],
    expires_at timestamptz not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    primary key (account_id, id)
  )`

/** Takes account, id, recipient, sender, text, characters, expiry and the time of acceptance. */
export const plainInsert = `
  insert into naive_messages (account_id, id, direction, type, status, recipient, sender, body, encoding, characters,
    segments, metadata, tags, expires_at, created_at, updated_at)
  values ($1, $2, 'outbound', 'transactional', 'queued', $3, $4, $5, 'GSM-7', $6, 1, '{}', '{}', $7, $8, $8)`

export const countPlain = 'select count(*) from naive_messages'

/** Connections. 5 to 40 perform the same with a cheap fsync; at a millisecond, more of them share each flush. */
export const plainPoolSize = 40
