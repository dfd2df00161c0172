/** Finds the session that belongs to a session of the host's own. */
export const hostSessions = `
create index on session (id_token_digest) where revoked_at is null;
`
