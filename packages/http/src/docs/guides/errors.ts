// Generated from docs/guides/errors.md by scripts/docs.ts: change it there.
export const errors = `# Handle errors

Every refusal is a problem of RFC 9457, with a stable code and a sentence that says what to do next.

\`\`\`json
{
  "type": "urn:narthex:problem:region_required",
  "title": "The project needs a region.",
  "status": 422,
  "detail": "Name a region: eu-central, us-east.",
  "code": "region_required",
  "request_id": "0b1c7a52-6f4e-4d0c-9a53-6d2a0f1f7c11"
}
\`\`\`

- Compare \`code\`. It never changes its meaning; the sentences may change.
- Show \`detail\` to people. It never has a secret.
- \`errors\` says which members of the body or parameters are invalid, each with \`path\` and \`message\`.
- Give \`request_id\` to the operator. It is in the header \`x-request-id\` too, and you may send one of your own.
- Some problems have more members: \`required\` and \`held\` of rights, \`quota\`, \`held\` and \`allowed\` of quotas, \`retry_after_ms\`.

What to do, by status:

| Status | What to do |
|---|---|
| 400, 404, 405, 413, 415, 422 | correct the call; a repetition gets the same answer |
| 401 | \`token_expired\`: refresh the session. Anything else: sign in, or use another key |
| 403 | the credential may not do it; \`required\` says what would |
| 409 | the state does not allow it; read \`detail\` |
| 423, 429, 503 | wait for \`Retry-After\`, and send it again |
| 500 | send it again with the same \`Idempotency-Key\`; if it stays, tell the operator |

A foreign id, an unknown one and a malformed one get the same 404, so that an answer never says what exists elsewhere.

\`\`\`ts
const { NARTHEX_API_KEY, NARTHEX_URL } = process.env
const answer = await fetch(\`\${NARTHEX_URL}/v1/projects\`, {
  method: "POST",
  headers: { authorization: \`Bearer \${NARTHEX_API_KEY}\`, "content-type": "application/json" },
  body: JSON.stringify({ name: "" })
})
const problem = await answer.json()
if (problem.code !== "invalid_request") throw new Error(problem.detail)
for (const { message, path } of problem.errors) console.log(\`\${path.join(".")}: \${message}\`)
\`\`\`

[All codes](../problems.md) are on one page.
`
