-- Opt-outs from one source, newest first: those that a review has confirmed are few among all that were imported.
create index opt_outs_source on opt_outs (account_id, source, id);
