-- Where an import was when it was last taken up, and how often it was taken up there: one that moves on may be interrupted as often as it is.
alter table imports
  add column resumed_row bigint not null default 0,
  add column resumes integer not null default 0;
