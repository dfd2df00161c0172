// Generated from docs/guides/pagination.md by scripts/docs.ts: change it there.
export const pagination = `# Read lists page by page

Lists take \`limit\` and \`cursor\`, and answer the cursor of the next page.

\`\`\`sh
curl "$NARTHEX_URL/v1/projects?limit=50" \\
  -H "Authorization: Bearer $NARTHEX_API_KEY"
\`\`\`

\`\`\`json
{
  "projects": [],
  "pagination": { "next_cursor": null }
}
\`\`\`

- \`limit\` is 1 to 1,000; left out, a page has 200 items.
- \`next_cursor\` is opaque. Send it back unchanged as \`cursor\`, with the same \`limit\`; \`null\` means that this page is the last.
- A cursor that the API did not issue is 400 \`malformed_request\`.
- Items that are created while you read come before the first page, so no page repeats or loses one.

The client of \`@narthex/api\` reads them by itself: \`for await (const page of client.projects.list.pages())\`. A program without it
that reads all of them:

\`\`\`ts
const url = process.env["NARTHEX_URL"]
const headers = { authorization: \`Bearer \${process.env["NARTHEX_API_KEY"]}\` }

const names: Array<string> = []
let cursor: string | null = null
do {
  const query = new URLSearchParams({ limit: "2", ...(cursor === null ? {} : { cursor }) })
  const answer = await fetch(\`\${url}/v1/projects?\${query}\`, { headers })
  if (!answer.ok) throw new Error(await answer.text())
  const page = await answer.json()
  for (const project of page.projects) names.push(project.name)
  cursor = page.pagination.next_cursor
} while (cursor !== null)
console.log(names)
\`\`\`

Some lists have no pages, because they are short: regions, providers, sessions, and the rules of an allowlist.
`
