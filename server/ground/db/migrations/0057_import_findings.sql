-- What an import tells of its file: rows that are hidden, equal faults together, and a few cells of each column of a dry run.

alter table imports
  add column hidden bigint not null default 0,
  add column faults jsonb not null default '[]',
  add column cells jsonb;
