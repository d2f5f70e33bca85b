-- How many recipients a broadcast was approved for: where its contacts have become more when they are made recipients, it waits again.
-- One that was approved before there was this number, and has not begun, is asked for once more.
alter table broadcasts add column approved_recipients bigint;

-- Of a message that another carrier was given than the one for which it was estimated: that estimate (amount and currency; empty: none was
-- known). Its cost is then that of the carrier that has it. Null: they are the same.
alter table messages add column first_estimate text;
