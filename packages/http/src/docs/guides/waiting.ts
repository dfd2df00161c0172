// Generated from docs/guides/waiting.md by scripts/docs.ts: change it there.
export const waiting = `# Wait for operations

Work that takes time is an operation: the call answers at once, and lists what it started in \`operations\`.

An empty list means that there was nothing to do. Otherwise wait for the operation:

\`\`\`sh
curl "$NARTHEX_URL/v1/projects/$PROJECT_ID/operations/$OPERATION_ID?wait=60s" \\
  -H "Authorization: Bearer $NARTHEX_API_KEY"
\`\`\`

The answer comes when the operation has ended, or after 60 seconds with the status reached by then.

| Status | Meaning |
|---|---|
| \`scheduling\` | it waits for its turn |
| \`running\` | it runs; retries stay in this status, with \`failures_count\` and \`retry_at\` |
| \`finished\` | it is done |
| \`failed\`, \`error\` | it is not done, and will not be; \`error\` says why |
| \`cancelling\`, \`cancelled\` | it was cancelled |
| \`skipped\` | it was no longer needed |

A program that waits until the end, at most five minutes:

\`\`\`ts
const { NARTHEX_API_KEY, NARTHEX_URL, OPERATION_ID, PROJECT_ID } = process.env
const path = \`\${NARTHEX_URL}/v1/projects/\${PROJECT_ID}/operations/\${OPERATION_ID}\`
const final = ["finished", "failed", "error", "cancelled", "skipped"]
const deadline = Date.now() + 5 * 60_000

let status = "scheduling"
while (!final.includes(status) && Date.now() < deadline) {
  const answer = await fetch(\`\${path}?wait=60s\`, { headers: { authorization: \`Bearer \${NARTHEX_API_KEY}\` } })
  if (answer.status === 429 || answer.status === 503) {
    const seconds = Number(answer.headers.get("retry-after") ?? 1)
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
    continue
  }
  if (!answer.ok) throw new Error(await answer.text())
  status = (await answer.json()).operation.status
}
if (status !== "finished") throw new Error(\`The operation is \${status}.\`)
\`\`\`

To follow many operations, use the [event stream](events.md): every change of a status is an \`operation.updated.v1\`.
The operations of a deleted project are on the organization's stream alone.
`
