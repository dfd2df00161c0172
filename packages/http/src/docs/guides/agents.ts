// Generated from docs/guides/agents.md by scripts/docs.ts: change it there.
export const agents = `# Give agents a sandbox

An agent gets a copy of the data that it may break, for an hour, with a key that can do nothing else.

Create a key with the capability \`agent\`, scoped to one project. Such a key reads, makes branches and sandboxes, and mints
credentials for them. It never writes to the main branch, deletes nothing that it did not make, and changes no allowlist, member
or key.

One call makes a branch, an endpoint and a credential:

\`\`\`sh
curl "$NARTHEX_URL/v1/projects/$PROJECT_ID/sandboxes" \\
  -X POST \\
  -H "Authorization: Bearer $NARTHEX_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"name": "agent-17", "ttl_seconds": 3600}'
\`\`\`

\`connection_uri\` of the answer is a real Postgres with the data of the default branch. Writing there changes nothing elsewhere. After
\`ttl_seconds\`, at most a day, the branch, its endpoint and its credential are deleted.

- If the agent breaks the data, \`POST …/branches/{branch_id}/reset\` brings back the data of the parent.
- A credential of an \`agent\` key expires after an hour unless the call says otherwise, and never outlives the key.
- How many sandboxes an organization may hold is a quota: \`GET /v1/orgs/{org_id}/usage\`.
- Everything that the agent starts is in the event stream, with the name of its key as the initiator.
`
