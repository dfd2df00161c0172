// Generated from docs/guides/first-call.md by scripts/docs.ts: change it there.
export const firstCall = `# From sign-in to the first call

Get an API key, make a project, and get a connection string: five calls with curl.

## Get a key

In the console open **API keys** and create one; the secret is shown once. On your machine the command line does the same:

\`\`\`console
narthex login
\`\`\`

Tell your shell where the API is and what the key is. Every sample in these pages uses the two variables.

\`\`\`console
export NARTHEX_URL=http://127.0.0.1:4400
export NARTHEX_API_KEY=nsk_…
\`\`\`

## Ask who you are

\`\`\`sh
curl "$NARTHEX_URL/v1/auth/whoami" \\
  -H "Authorization: Bearer $NARTHEX_API_KEY"
\`\`\`

\`organization\` is where the key acts, and \`permissions\` is what it may do there. A 401 means that the key is wrong, has expired or
was revoked.

## Make a project

\`\`\`sh
curl "$NARTHEX_URL/v1/projects" \\
  -X POST \\
  -H "Authorization: Bearer $NARTHEX_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"name": "shop"}'
\`\`\`

The answer has the project, its branch \`main\`, an endpoint, and one operation that makes them. Keep the ids:

\`\`\`console
export PROJECT_ID=prj-… BRANCH_ID=br-… OPERATION_ID=…
\`\`\`

If the platform has several regions, the answer is 422 \`region_required\`: list them with \`GET /v1/regions\`, and send \`region\`.

## Wait until it is made

\`\`\`sh
curl "$NARTHEX_URL/v1/projects/$PROJECT_ID/operations/$OPERATION_ID?wait=30s" \\
  -H "Authorization: Bearer $NARTHEX_API_KEY"
\`\`\`

## Get a connection string

\`\`\`sh
curl "$NARTHEX_URL/v1/projects/$PROJECT_ID/branches/$BRANCH_ID/credentials" \\
  -X POST \\
  -H "Authorization: Bearer $NARTHEX_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"access": "read_write", "ttl_seconds": 3600}'
\`\`\`

\`connection_uri\` works as it is, for example with psql, and is shown this once. [Connect](connecting.md) has other clients. The command
line does the last three steps with \`narthex project create shop --wait\` and \`narthex psql shop\`.
`
