-- Which master key this database is used with, so that no process starts with another one. `sealing`: ids of the keys that secrets may be sealed with,
-- several while a key is replaced. `hashing`: id of the secret behind keyed hashes, which no rotation changes. An id tells nothing of its key.
create table master_key (
  is_only boolean primary key default true check (is_only),
  sealing text[] not null check (sealing <> '{}'),
  hashing text not null
);
