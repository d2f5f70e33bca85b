-- Two parts with one number and reference came that say different things: nobody can tell which parts belong together, so none is sent.
alter table smpp_gatherings add column crossed_at timestamptz;

-- Long messages of a client of which parts did not come, or that were crossed: they were not sent.
alter table smpp_credentials add column incomplete bigint not null default 0;
alter table smpp_credentials add column incomplete_at timestamptz;
