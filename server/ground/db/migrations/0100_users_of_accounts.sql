-- An address may be a user of several accounts: an invitation must not show that another account has the address. Serves logins too.
drop index users_email;
create unique index users_email on users (lower(email), account_id);
