// Generated from docs/guides/idempotency.md by scripts/docs.ts: change it there.
export const idempotency = `# Repeat a call without a second effect

A connection that breaks leaves you without an answer. With an \`Idempotency-Key\` you can send the call again.

\`\`\`sh
for attempt in 1 2; do
  curl "$NARTHEX_URL/v1/projects" \\
    -X POST \\
    -H "Authorization: Bearer $NARTHEX_API_KEY" \\
    -H "Idempotency-Key: 2026-11-23-nightly" \\
    -H "Content-Type: application/json" \\
    -d '{"name": "nightly"}'
done
\`\`\`

Both calls get the same answer, and there is one project. The second answer has the header \`Idempotent-Replayed: true\`.

- Every POST, PATCH and DELETE with a credential takes the header, except those that issue or end sessions and codes.
- A key is 1 to 255 visible ASCII characters. It belongs to the caller and the organization, and is kept for 24 hours.
- The same key with another method, path or body is 409 \`idempotency_conflict\`. Bodies are compared byte by byte: keep the text that you
  sent, because the same JSON with its members in another order, or with other spaces, is another body.
- While the first call still runs, the second one is 409 \`idempotency_in_progress\`: send it again after \`Retry-After\`.
- Secrets are stored nowhere. A repeated creation of a key or credential shows \`null\` where the first answer had the secret; revoke it
  and create another one.
- Refusals are replayed too, except 401, 403, 423 and 429. A 5xx is not: the call runs again.

Make the key from what you are doing, such as the id of your own job, and not from the time. A random one is right if you keep it
for all attempts.
`
