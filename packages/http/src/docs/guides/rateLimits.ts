// Generated from docs/guides/rate-limits.md by scripts/docs.ts: change it there.
export const rateLimits = `# Keep within rate limits

Calls that create, sign in or open streams are limited. Calls of any kind go on at 16 a second with one session or
API key, and at 20 with all sessions or all keys of a person; the first eight come at once. Others wait, and are refused for that only
when more than a hundred wait.

\`\`\`sh
curl --include "$NARTHEX_URL/v1/projects/$PROJECT_ID/branches" \\
  -X POST \\
  -H "Authorization: Bearer $NARTHEX_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"name": "limits"}'
\`\`\`

Where the server has limits, the answer says how much is left:

\`\`\`http
RateLimit-Policy: "creation";q=240;w=60
RateLimit: "creation";r=239;t=42
\`\`\`

\`q\` calls are allowed in a window of \`w\` seconds; \`r\` remain, and the window begins again after \`t\` seconds.

Beyond the limit the answer is 429 \`rate_limited\` with \`Retry-After\`, in seconds. Nothing has happened, so wait and send the call
again. Wait a little longer each time, with some chance in it, so that your processes do not come back all at once.

| Limit | Counts | Per |
|---|---|---|
| \`creation\` | projects, branches, sandboxes, endpoints, credentials, resets, starts, suspends | person or API key, and organization |
| \`key_creation\` | API keys and logins of command lines | person |
| \`invitation_creation\` | invitations | person or API key, and organization |
| \`organization_creation\` | organizations | person |
| \`exchange\`, \`cli_exchange\`, \`reports\` | sign-ins, logins of command lines, reports of leaked keys | client address |
| \`refresh\` | refreshes | session |
| \`calls\` | calls that wait because of their rate | session or API key |
| \`failures\` | credentials that do not authenticate | client address |
| \`waits\` | calls that wait for operations | person or API key, and organization |
| \`streams\` | open event streams, and new ones per second | person or API key, and organization |

An IPv4 address counts by itself, an IPv6 address together with all others of its /64.

The operator sets the numbers. A quota is something else: 422 \`quota_exceeded\` says that the organization holds as much as it may, and
waiting does not help.
`
