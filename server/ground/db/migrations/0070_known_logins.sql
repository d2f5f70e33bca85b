-- Who logged in lately, and from which network, as a keyed hash of both: guesses of strangers elsewhere do not make them wait.
create table known_logins (
  subject text primary key,
  last_at timestamptz not null
);
