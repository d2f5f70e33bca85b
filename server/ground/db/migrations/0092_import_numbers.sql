-- Where an interrupted import goes on: a place in its file behind committed rows, and the numbers of these rows, so that nothing before the place is
-- read again. Both go with the file when the import ends.
alter table imports add column resume jsonb;
create table import_numbers (
  account_id uuid not null,
  import_id uuid not null,
  first_row bigint not null,
  -- Numbers that the rows of a batch are the first to have, and those that they are the first to opt out; with blanks between them.
  numbers text not null,
  outs text not null,
  primary key (account_id, import_id, first_row),
  foreign key (account_id, import_id) references imports on delete cascade
);
