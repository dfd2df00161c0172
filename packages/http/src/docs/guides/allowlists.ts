// Generated from docs/guides/allowlists.md by scripts/docs.ts: change it there.
export const allowlists = `# Restrict who may connect

A project has an IP allowlist. While it is empty, every address may connect; with the first rule, only the listed networks may.

First look up the address that the platform sees, so that you do not lock yourself out:

\`\`\`sh
curl "$NARTHEX_URL/v1/client-address" \\
  -H "Authorization: Bearer $NARTHEX_API_KEY"
\`\`\`

Then add the network. A rule with \`ttl_seconds\` ends by itself:

\`\`\`sh
curl "$NARTHEX_URL/v1/projects/$PROJECT_ID/ip-allow" \\
  -X POST \\
  -H "Authorization: Bearer $NARTHEX_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"cidr": "203.0.113.0/24", "label": "office", "ttl_seconds": 28800}'
\`\`\`

One address is a /32, or a /128 of IPv6. \`203.0.113.7/24\` is refused, because its host bits are set: the answer names the network that was
probably meant. A rule covers addresses of its own family: \`::/0\` does not admit IPv4.
The list says in \`refused_family\` when every address of one family is listed and none of the other.

Ask what would happen to an address:

\`\`\`sh
curl "$NARTHEX_URL/v1/projects/$PROJECT_ID/ip-allow/check?address=203.0.113.9" \\
  -H "Authorization: Bearer $NARTHEX_API_KEY"
\`\`\`

See which clients were refused, and how often. Each address has one entry for an endpoint, some seconds after the attempt:

\`\`\`sh
curl "$NARTHEX_URL/v1/projects/$PROJECT_ID/ip-allow/refusals?limit=20" \\
  -H "Authorization: Bearer $NARTHEX_API_KEY"
\`\`\`

Remove a network, with its slash as \`%2F\`:

\`\`\`sh
curl "$NARTHEX_URL/v1/projects/$PROJECT_ID/ip-allow/203.0.113.0%2F24" \\
  -X DELETE \\
  -H "Authorization: Bearer $NARTHEX_API_KEY"
\`\`\`

- Proxies know of a change within a second or so, and within 30 seconds at the latest. Sessions that are no longer admitted are ended.
- Removing the last rule, or its expiry, **opens the project to every address**. \`opens_at\` of the list says when that will be.
- The list is checked before a compute is woken: a client that is not listed costs nothing.
- It is about Postgres connections. API calls are not restricted by it.
`
