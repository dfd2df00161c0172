/** Parts of the OpenAPI document about the whole API: title page, servers, credentials, headers, and the order of the groups. */
import type { Json } from "./Json.ts"

/** Markdown. */
const introduction = `The control plane of a hosted Postgres platform: organizations, projects, branches, endpoints, credentials, IP allowlists, and a stream of every change.

**Credentials.** Send \`Authorization: Bearer\` with an API key (\`nsk_…\`) or a session token. Keys are made in the console or with \`narthex login\`.

**Bodies** are JSON in UTF-8 with members in \`snake_case\`. Times are RFC 3339 in UTC. Ignore members that you do not know, and accept unknown values of enumerations: both may be added.

**Refusals** are problems of RFC 9457. Compare \`code\`, which is stable; show \`detail\`, which says what to do next.

**Repetition.** Send an \`Idempotency-Key\` with every POST, PATCH and DELETE that takes one. A repetition gets the first answer and has no second effect.

**Lists** have pages: \`limit\` and \`cursor\`, and \`pagination.next_cursor\` in the answer.

**Work that takes time** is an operation: wait for it with \`GET …/operations/{operation_id}?wait=30s\`, or follow the event stream.

Every answer has the header \`x-request-id\`. Send one of your own to find the request in the operator's log.`

export const info: Json = {
  title: "Narthex",
  version: "1",
  summary: "Hosted Postgres: projects, branches, endpoints and who may use them",
  description: introduction,
  license: { name: "Apache-2.0", identifier: "Apache-2.0" }
}

export const servers: ReadonlyArray<Json> = [
  { url: "/", description: "The server that this document is from." },
  {
    url: "{origin}",
    description: "A control plane elsewhere.",
    variables: { origin: { default: "http://127.0.0.1:4400", description: "Its URL, without a slash at the end." } }
  }
]

/** The scheme is written in small letters, because generators compare it with that spelling. */
export const securitySchemes: Json = {
  bearer: {
    type: "http",
    scheme: "bearer",
    description:
      "An API key (`nsk_…`), or a session token, which is a JWT. Every description says which of them may call."
  },
  proxy_token: {
    type: "http",
    scheme: "bearer",
    description: "The token of Postgres proxies, a setting of the server. It is valid for `/v1/proxy/*` alone."
  }
}

const header = (description: string, schema: Json, example: unknown): Json => ({ description, schema, example })
const text: Json = { type: "string" }

export const headers: Json = {
  "RateLimit-Policy": header(
    "The limit of this call: its name, the number of calls `q`, and the window `w` in seconds. Missing where the server has no limit.",
    text,
    '"creation";q=240;w=60'
  ),
  RateLimit: header(
    "How many calls remain, `r`, and after how many seconds the window begins again, `t`.",
    text,
    '"creation";r=239;t=42'
  ),
  "Retry-After": header("After how many seconds to try again.", { type: "integer", minimum: 1 }, 2),
  "WWW-Authenticate": header(
    "The scheme to authenticate with. It has an `error` if a credential was sent.",
    text,
    'Bearer realm="narthex"'
  ),
  Location: header("The path of what was created.", text, "/v1/projects/prj-01m80m4ce8e4h6v2k9t3x7w5qa"),
  Link: header(
    'Of a file: where the next page is, as `rel="next"`. Missing on the last page.',
    text,
    '</v1/orgs/01980f3e-5c00-7a31-8f6e-2b1d90c4a7e5/audit?cursor=djEgMDE5ODBm>; rel="next"'
  ),
  "Idempotent-Replayed": header(
    "`true`: this is the stored answer to an earlier call with the same `Idempotency-Key`.",
    { type: "string", enum: ["true"] },
    "true"
  ),
  "Events-Cursor": header(
    "A position of the event stream before this state was read. A stream that begins after it misses nothing.",
    text,
    "01M80M4CEC9X5B7D1F3H5J7K9M"
  )
}

/** The groups in the order of a reader: what people call, then what programs of the platform call. */
export const groupOrder: ReadonlyArray<{ readonly name: string; readonly tags: ReadonlyArray<string> }> = [
  {
    name: "Databases",
    tags: ["Projects", "Branches", "Sandboxes", "Endpoints", "Operations", "IP allowlist", "Regions"]
  },
  { name: "Events", tags: ["Events", "Webhooks"] },
  {
    name: "People and keys",
    tags: ["Organizations", "Invitations", "Own invitations", "API keys", "Authentication", "Audit log"]
  },
  { name: "Inside the platform", tags: ["CLI login", "Credentials", "Service", "Aliases", "Proxy"] }
]

/** Paths that are there for clients that cannot send the usual spelling. */
export const otherSpellings: ReadonlyArray<string> = ["apiKeys.listBare", "apiKeys.createBare", "ipAllow.removeSplit"]
