/**
 * Logins that are under way, as SQL: they have a transaction, and no entry in `pg_stat_activity` or an entry without a
 * role. A login that has passed the check of its role may become a session after the role has lost its login.
 *
 * `pids`: only logins of these processes.
 */
export const loginsUnderWay = (pids?: ReadonlyArray<number>) => `
  SELECT DISTINCT l.pid FROM pg_locks l LEFT JOIN pg_stat_activity a USING (pid)
  WHERE l.locktype = 'virtualxid' AND l.mode = 'ExclusiveLock' AND a.usesysid IS NULL
    AND (a.pid IS NULL OR a.backend_type = 'client backend')
    ${pids === undefined ? "" : `AND l.pid IN (${[0, ...pids].join(", ")})`}`

/** How long such a login may take before it is ended, in milliseconds. */
export const loginsWithin = 500
