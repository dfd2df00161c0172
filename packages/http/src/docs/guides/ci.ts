// Generated from docs/guides/ci.md by scripts/docs.ts: change it there.
export const ci = `# Use it in CI

A branch for each pull request: made when the run begins, gone by itself if the run is killed.

Create a key for the pipeline in the console, scoped to one project, and give it an expiry. Store it as the secret
\`NARTHEX_API_KEY\`. It needs no session, and no login.

\`\`\`sh
curl "$NARTHEX_URL/v1/projects/$PROJECT_ID/branches" \\
  -X POST \\
  -H "Authorization: Bearer $NARTHEX_API_KEY" \\
  -H "Idempotency-Key: run-4711" \\
  -H "Content-Type: application/json" \\
  -d '{"name": "ci-4711", "ttl_seconds": 7200, "endpoint": true}'
\`\`\`

- \`ttl_seconds\` deletes the branch even if no step of the pipeline runs any more.
- The \`Idempotency-Key\` is the id of the run: a repeated step gets the same branch.
- \`endpoint: true\` gives it a compute. Wait for the [operations](waiting.md) of the answer, then mint a credential.

As a step of GitHub Actions, with the command line:

\`\`\`yaml
- name: Database
  env:
    NARTHEX_URL: \${{ vars.NARTHEX_URL }}
    NARTHEX_API_KEY: \${{ secrets.NARTHEX_API_KEY }}
  run: narthex sandbox create --project shop --output json > database.json
\`\`\`

Rotate the key before it expires: \`POST /v1/api-keys/{api_key_id}/rotate\` with \`grace_seconds\` keeps the old secret working while you
replace it. A key that leaked is revoked with \`POST /v1/credentials/report\`, which needs no credential.
`
