-- Tries of a message that were handed back before a byte was written (a refused dial, a session that ended): no attempts, but they keep their numbers.
alter table messages add column handed_back int not null default 0;
