// Generated from docs/guides/connecting.md by scripts/docs.ts: change it there.
export const connecting = `# Connect to Postgres

Every endpoint is a Postgres server with a host name of its own. A suspended compute starts when a client connects.

Mint a credential first; \`connection_uri\` of the answer is complete, with the password, which is shown once:

\`\`\`sh
curl "$NARTHEX_URL/v1/projects/$PROJECT_ID/branches/$BRANCH_ID/credentials" \\
  -X POST \\
  -H "Authorization: Bearer $NARTHEX_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"access": "read_only", "ttl_seconds": 28800}'
\`\`\`

\`\`\`console
export DATABASE_URL='postgresql://…'
\`\`\`

## psql

\`\`\`console
psql "$DATABASE_URL"
\`\`\`

\`narthex psql shop\` does both steps: it mints a credential, and starts psql with it.

## Node

\`\`\`js
import postgres from "postgres"

const sql = postgres(process.env.DATABASE_URL)
console.log(await sql\`select now()\`)
await sql.end()
\`\`\`

## Other languages

Any driver that takes a URI connects with it as it is: \`psycopg.connect(url)\` in Python, \`pgx.Connect(ctx, url)\` in Go,
\`PG.connect(url)\` in Ruby.

## How the proxy finds the endpoint

All endpoints of a region share an address. The proxy learns from the client which one is meant, in one of three ways:

- the server name of TLS (SNI), which clients send by themselves: \`ep-….eu-central.example.com\`
- the option \`endpoint\`, for clients without SNI, without TLS, or on \`localhost\`: \`?options=endpoint%3Dep-…\`
- the end of the user name, for clients that can set neither: \`user.ep-…\`

\`connection_uri\` uses what the platform needs. Two different names in one connection are refused.

## When it does not connect

| SQLSTATE | Meaning |
|---|---|
| 28000 | the address is not on the project's [IP allowlist](allowlists.md), or TLS is required |
| 28P01 | the password is wrong, or the role has ended |
| 08004 | the client named no endpoint, an unknown or disabled one, or two different ones |
| 53300 | too many connections or running computes |
| 57P03 | the compute did not start in time, or the allowlist cannot be checked now: try again |
| 57P01 | the session was ended: by a suspend, a revocation, or a rule that no longer admits it |
| 53100, a warning | the organization holds more disk than its quota: until it holds less, every credential only reads (42501 for writes) |

The first connection after a suspend takes about as long as Postgres takes to start. Give clients a time-out of ten seconds or more.
`
