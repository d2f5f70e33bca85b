-- The conversations of one campaign, the last reply first.
create index conversations_campaign on conversations (account_id, campaign_id, last_reply_id) where campaign_id is not null;
