/**
 * The id of a host's own session begins no other for 400 days after its end (docs/design/identity.md I54). An instance of an
 * earlier release, which may run beside this one, keeps the id of a session that it ends for a day: the trigger does for it
 * what `revokeSession` of the core does.
 */
export const hostSessionEnds = `
create function host_session_ended() returns trigger language plpgsql as $f$
begin
  insert into spent_id_token as spent (digest, expires_at)
  values (new.id_token_digest, new.revoked_at + interval '400 days')
  on conflict (digest) do update set expires_at = greatest(spent.expires_at, excluded.expires_at);
  return null;
end $f$;

create trigger host_session_ended after update of revoked_at on session for each row
when (old.revoked_at is null and new.revoked_at is not null
  and new.provider = 'host' and new.id_token_digest <> 'host ' || new.id)
execute function host_session_ended();
`
