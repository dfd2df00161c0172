/**
 * Sessions, id tokens that were exchanged, the keys that sign session tokens.
 *
 * The id of a host's own session begins no other for 400 days after its end (docs/design/identity.md I54), whichever
 * instance ends it: the trigger does what `revokeSession` of the core does.
 */
export const sessions = `
create table session (
  id              text collate "C" primary key,
  user_id         text collate "C" not null,
  active_org_id   text collate "C" not null,
  generation      bigint not null,
  refreshed_at    timestamptz not null,
  signed_in_at    timestamptz not null,
  revoked_at      timestamptz,
  revoked_reason  text,
  provider        text not null,
  user_agent      text,
  address         text,
  id_token_digest text not null                   -- of a host's own session: its id there
);
create index on session (user_id, id desc) where revoked_at is null;
create index on session (signed_in_at);
create index on session (id_token_digest) where revoked_at is null;

create table spent_id_token (
  digest     text collate "C" primary key,
  expires_at timestamptz not null
);
create index on spent_id_token (expires_at);

create function host_session_ended() returns trigger language plpgsql set search_path from current as $f$
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

create table signing_key (
  kid             text collate "C" primary key,
  public_jwk      text not null,
  wrapped_private text not null,
  created_at      timestamptz not null,
  active_from     timestamptz not null,
  retired_until   timestamptz
);
`
