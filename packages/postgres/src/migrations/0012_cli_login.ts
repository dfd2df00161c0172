/** Logins of the command line that wait for the exchange of their code. */
export const cliLogin = `
create table cli_grant (
  code_digest     text collate "C" primary key,
  state_digest    text collate "C" not null unique,
  code_challenge  text not null,
  redirect_uri    text not null,
  user_id         text collate "C" not null,
  org_id          text collate "C" not null,
  session_id      text collate "C" not null,
  name            text not null,
  capability      text not null,
  scope           jsonb not null,
  expires_in_days integer,
  created_at      timestamptz not null,
  expires_at      timestamptz not null,
  consumed_at     timestamptz,
  wrong_verifiers integer not null
);
create index on cli_grant (expires_at);
`
