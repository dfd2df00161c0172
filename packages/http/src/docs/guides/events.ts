// Generated from docs/guides/events.md by scripts/docs.ts: change it there.
export const events = `# Follow events

One request, and every change of the organization or of a project arrives as it happens.

\`\`\`console
curl --no-buffer "$NARTHEX_URL/v1/events" \\
  -H "Authorization: Bearer $NARTHEX_API_KEY"
\`\`\`

Each event is a block of server-sent events. \`data\` is JSON:

\`\`\`http
id: 01M80M4CEC9X5B7D1F3H5J7K9M
event: operation.updated.v1
data: {"id":"01M80M4CEC9X5B7D1F3H5J7K9M","type":"operation.updated.v1","source":"operations","org_id":"…","project_id":"prj-…","region_id":"eu-central","at":"2026-11-23T09:41:07.250Z","data":{"operation_id":"…","action":"start_compute","status":"finished"}}
\`\`\`

- \`GET /v1/projects/{project_id}/events\` has the events of one project. \`?types=operation.updated.v1\` narrows a stream.
- Lines that begin with \`:\` are heartbeats. After 45 seconds without any byte the connection is dead: connect again.
- Connect again with the last \`id\` in the header \`Last-Event-ID\`, and nothing is missing.
- A stream ends after 30 minutes, or with its credential. That is not an error: connect again.
- \`resume.gap.v1\` and \`overflow.v1\` say that events are missing. Read the state again, then go on with the stream.
- Ignore types and members that you do not know. A changed payload gets a new type.

To read a state and then its changes without a hole, take the header \`Events-Cursor\` of the read as the first \`Last-Event-ID\`:

\`\`\`ts
const { NARTHEX_API_KEY, NARTHEX_URL, PROJECT_ID } = process.env
const authorization = \`Bearer \${NARTHEX_API_KEY}\`
const project = \`\${NARTHEX_URL}/v1/projects/\${PROJECT_ID}\`

const read = await fetch(project, { headers: { authorization } })
const position = read.headers.get("events-cursor") ?? ""
const stream = await fetch(\`\${project}/events\`, { headers: { authorization, "last-event-id": position } })
if (stream.body === null || !stream.ok) throw new Error(await stream.text())

// Something to see: a new branch.
await fetch(\`\${project}/branches\`, { method: "POST", headers: { authorization } })

let text = ""
for await (const chunk of stream.body.pipeThrough(new TextDecoderStream())) {
  text += chunk
  const data = /^data: (.+)$/m.exec(text)?.[1]
  if (data === undefined) continue
  console.log(JSON.parse(data).type)
  break
}
\`\`\`

\`GET /v1/events/history\` has the same events as pages, newest first with \`?order=desc\`. In TypeScript, \`subscribe\` of \`@narthex/api\` does
all of this.
`
