-- A session may be gone without anybody having told its process, which then has no doubts: another that has got the same reply asks it to find
-- out. How often it was asked, and up to which time of these it has found out of all that it had answered.
alter table reply_notings
  add column asks bigint not null default 0,
  add column met bigint not null default 0;
