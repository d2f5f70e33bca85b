-- A carrier knows of a STOP that never came to us.
alter table consents
  drop constraint consents_source_check,
  add constraint consents_source_check check (source in ('reply', 'api', 'import', 'contact', 'review', 'carrier'));
