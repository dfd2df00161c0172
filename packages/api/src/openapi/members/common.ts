/** Members that mean the same everywhere, and those of problems. */
import { exampleTimes as at, exampleIds as ids, type MemberEntry } from "@narthex/core"

export const commonMembers: Readonly<Record<string, MemberEntry>> = {
  // Identity of things
  id: ["The id.", ids.project],
  org_id: ["The id of the organization.", ids.organization],
  project_id: ["The id of the project.", ids.project],
  branch_id: ["The id of the branch.", ids.branch],
  endpoint_id: ["The id of the endpoint.", ids.endpoint],
  region_id: ["The id of the region.", "eu-central"],
  user_id: ["The id of the user.", ids.user],
  email: ["The verified email address; `null` where the provider gave none.", "ada@example.com"],
  role: ["The role in the organization: `viewer`, `member`, `admin` or `owner`.", "member"],

  // Times
  created_at: ["When it was created.", at.created],
  updated_at: ["When it was changed last.", at.updated],
  expires_at: ["When it expires; `null`: never.", at.expires],
  started_at: ["When it started; `null`: it has not started yet.", at.updated],
  revoked_at: ["When it was revoked; `null`: it was not.", null],

  // Lists
  pagination: ["Where the next page begins."],
  "pagination.next_cursor": ["The `cursor` of the next page; `null`: this page is the last.", null],
  projects: ["The projects, newest first."],
  branches: ["The branches, newest first."],
  endpoints: ["The endpoints, newest first."],
  operations: ["The work that the call started, newest first; empty: there was nothing to do."],
  "operations.list.answer.operations": ["The operations of the project, newest first."],
  api_keys: ["The API keys, newest first."],
  credentials: ["The credentials, newest first."],
  organizations: ["The organizations that the caller is a member of, oldest first."],
  members: ["The members, the newest account first."],
  invitations: ["The invitations, newest first."],
  webhooks: ["The webhooks, newest first."],
  deliveries: ["The attempts, newest first."],
  events: ["The events, in the order that the call names."],
  sessions: ["The sessions of the caller, newest first."],
  entries: ["The entries, newest first."],
  refusals: ["The refused clients, newest first."],
  regions: ["The active regions."],
  providers: ["The identity providers that people sign in with."],
  keys: [
    "The public keys, in the form of RFC 7517.",
    [
      {
        kty: "OKP",
        crv: "Ed25519",
        kid: "2026-11",
        alg: "EdDSA",
        use: "sig",
        x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"
      }
    ]
  ],
  usage: ["Every quota, with what the organization holds of it."],

  // Things in answers
  project: ["The project."],
  branch: ["The branch."],
  endpoint: ["The endpoint."],
  "branches.create.answer.endpoint": ["The read-write endpoint; `null`: the body asked for none."],
  operation: ["The operation."],
  api_key: ["The API key, without its secret."],
  credential: ["The credential, without its password."],
  organization: ["The organization."],
  member: ["The member."],
  invitation: ["The invitation."],
  webhook: ["The webhook."],
  webhook_id: ["The id of the webhook.", ids.webhook],
  user: ["The person who calls, or whose API key calls."],

  // Service
  "service.livez.answer.status": ["`ok`.", "ok"],
  "service.readyz.answer.status": ["`ok`.", "ok"],

  // Problems
  "Problem.type": ["`urn:narthex:problem:` and the code."],
  "Problem.title": ["What happened, the same sentence for every request."],
  "Problem.status": ["The status of the answer."],
  "Problem.detail": ["What happened here and what to do next, for a person."],
  "Problem.code": ["What happened, for programs: it never changes its meaning."],
  "Problem.held": ["What the credential holds."],
  "Problem.allowed": ["How much the organization may hold."],
  request_id: [
    "The id of the request, for the operator. The header `x-request-id` has it too.",
    "0b1c7a52-6f4e-4d0c-9a53-6d2a0f1f7c11"
  ],
  errors: ["Which members of the body or parameters are invalid."],
  path: ["Where the member is: names and positions.", ["name"]],
  message: ["What was expected there.", "Expected 1 to 128 characters"],
  required: ["What the call requires.", "read_write"],
  retry_after_ms: ["After how many milliseconds to try again. `Retry-After` has it in seconds.", 2000],
  blocking_operation_id: ["The operation that must end first.", ids.operation]
}
