-- Numbers that stood in a cell behind the one that an import took.
alter table imports add column further_numbers jsonb;
