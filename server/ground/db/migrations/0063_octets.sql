-- A reply whose octets are not what is declared of them keeps them beside its text; sealed where the text is.
alter table messages
  add column octets bytea;
alter table orphan_replies
  add column octets bytea;
