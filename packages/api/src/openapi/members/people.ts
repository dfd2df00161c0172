/** Members of API keys, sign-in, organizations and people. */
import { exampleTimes as at, exampleIds as ids, type MemberEntry } from "@narthex/core"
import { nameText } from "../../schemas/texts.ts"

const keyName = "The name of the API key: 1 to 64 characters, counted after trimming. It need not be unique."
const expiresInDays = "After how many days the API key expires. Left out: never."
const capability =
  "The right of the API key. `read_write`: everything that its creator's role allows. `read`: reads. `agent`: reads, branches and sandboxes of its own, and credentials for them."
const scope =
  'The reach of the API key: the organization, one project, or one branch. The short forms `"organization"`, `"project:<project_id>"` and `"branch:<branch_id>"` are accepted too. Left out: the organization.'

const grantedRoles =
  "`viewer`, `member`, `admin`, `owner`, or a role that the program around the control plane declares"

export const peopleMembers: Readonly<Record<string, MemberEntry>> = {
  // API keys
  "ApiKey.id": ["The id of the API key.", ids.api_key],
  "ApiKey.name": ["The name of the API key.", "ci deploy"],
  hint: ["`…` and the last four characters of the secret.", "…x7Qa"],
  capability: [capability, "read_write"],
  scope: [scope, { type: "organization" }],
  "scope.type": ["How much the scope holds."],
  "scope.project_id": ["The project that the scope holds, or that its branch belongs to."],
  "scope.branch_id": ["The branch that the scope holds."],
  "ApiKey.created_by": ["The person as whom the key acts."],
  last_used_at: ["When the key was used last, to the minute; `null`: never.", at.updated],
  last_used_from: ["The address that used the key last; `null`: never used, or not known.", "198.51.100.17"],
  "apiKeys.create.name": [keyName, "ci deploy"],
  "apiKeys.createBare.name": [keyName, "ci deploy"],
  "cli.authorize.name": [keyName, "laptop"],
  expires_in_days: [expiresInDays, 90],
  grace_seconds: ["How many seconds the old secret goes on working: up to 86400. Left out: 0.", 3600],
  secret: ["The secret, shown once; `null` in a repeated answer.", "nsk_EXAMPLE-shown-once"],
  "credentials.report.secret": ["The secret that leaked.", "nsk_EXAMPLE-shown-once"],
  "Whoami.api_key": ["The API key that calls; `null`: a session does."],
  "api_key.id": ["The id of the API key.", ids.api_key],
  "api_key.name": ["The name of the API key.", "ci deploy"],

  // Sign-in and sessions
  id_token: ["The id token that the provider issued.", "eyJhbGciOiJSUzI1NiJ9.EXAMPLE.EXAMPLE"],
  "auth.exchange.provider": [
    "The id of the provider. Left out: the issuer and audience of the token decide.",
    "google"
  ],
  nonce: ["The nonce that the sign-in was started with. Left out: it is not compared.", "n-0S6_WzA2Mj"],
  access_token: ["The session token, a JWT.", "eyJhbGciOiJFZERTQSJ9.EXAMPLE.EXAMPLE"],
  token_type: ["How to send it: `Authorization: Bearer`."],
  "SessionAnswer.expires_at": ["When the session token expires.", at.soon],
  refresh_until: ["Until when the session can be refreshed. After that the person signs in again.", at.later],
  account_state: ["`active`, or `pending` until the operator enables the account.", "active"],
  invited_by: ["The inviter."],
  "SessionAnswer.invited_by": [
    "The inviter, while the membership that the first sign-in brought is not confirmed; otherwise `null`.",
    null
  ],
  "Whoami.invited_by": [
    "The inviter, while the membership that the first sign-in brought is not confirmed; otherwise `null`.",
    null
  ],
  "Account.invited_by": [
    "The inviter, while the membership that the first sign-in brought is not confirmed; otherwise `null`.",
    null
  ],
  pending_invitations: [
    "How many invitations are pending for the person's verified address; 100 at most are counted.",
    1
  ],
  "Account.projects": [
    "With `include=projects`: the newest 100 projects of the organization, newest first.",
    undefined
  ],
  kind: ["Which kind of credential calls: `session` or `api_key`.", "session"],
  "Whoami.capability": ["The capability of the API key; `null`: a session calls.", null],
  "Whoami.scope": ["The scope of the API key; `null`: a session calls.", null],
  "Whoami.expires_at": ["When the credential expires; `null`: never.", at.soon],
  permissions: [
    "The permissions of the role, as far as capability and scope of the credential let them through.",
    ["read", "own_keys", "create_projects"]
  ],
  console_url: ["The origin of the console; `null`: there is none.", "https://console.narthex.example"],
  issuer: ["The issuer of the provider's id tokens.", "https://accounts.google.com"],
  "ProviderView.id": ["The id of the provider.", "google"],
  "ProviderView.name": ["The name for a sign-in button.", "Google"],
  "Session.id": ["The id of the session.", ids.session],
  current: ["Whether it is the session that calls.", true],
  provider: ["The id of the provider that the person signed in with.", "google"],
  signed_in_at: ["When the person signed in.", at.created],
  last_refreshed_at: ["When the session token was issued last.", at.updated],
  user_agent: ["The name that the client gave itself; `null`: none.", "Mozilla/5.0"],
  "Session.address": ["The address that signed in; `null`: not known.", "198.51.100.17"],
  "auth.switchOrg.org_id": ["The organization that the session is to act in.", ids.organization],
  address: ["The address of the client.", "198.51.100.17"],
  redirect_uri: ["The loopback address that the command line listens on.", "http://127.0.0.1:53682/callback"],
  "cli.authorize.state": [
    "22 to 128 random characters of base64url, chosen by the command line; usable once.",
    "bXlzdGF0ZW15c3RhdGVteXN0YXRl"
  ],
  code_challenge: [
    "The SHA-256 of the verifier, as base64url (RFC 7636).",
    "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
  ],
  code_challenge_method: ["How the challenge was made.", "S256"],
  code: ["The code, usable once within 60 seconds.", "EXAMPLE-code-of-one-minute"],
  "cli.authorize.answer.expires_at": ["When the code expires.", at.soon],
  code_verifier: ["The verifier whose SHA-256 the authorization has.", "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"],

  // Organizations and people
  "OrganizationView.id": ["The id of the organization.", ids.organization],
  "OrganizationView.name": ["The name of the organization.", "Acme Industries"],
  "OrganizationView.role": ["The role of the caller.", "owner"],
  "ActiveOrganization.id": ["The id of the organization.", ids.organization],
  "ActiveOrganization.name": ["The name of the organization.", "Acme Industries"],
  "ActiveOrganization.role": ["The role of the caller; `null`: the membership has ended.", "owner"],
  personal: [
    "Whether it is the organization of one person, which can be neither left nor deleted. Its id is the id of that person.",
    false
  ],
  "UserProfile.id": ["The id of the user.", ids.user],
  "UserProfile.name": ["The name; `null`: the provider gave none.", "Ada Lovelace"],
  "UserRef.id": ["The id of the user.", ids.user],
  "Member.name": ["The name; `null`: the provider gave none.", "Ada Lovelace"],
  joined_at: ["When the person became a member.", at.created],
  "orgs.create.name": [nameText("the organization"), "Acme Industries"],
  "orgs.rename.name": [nameText("the organization"), "Acme Industries"],
  "orgs.changeMember.role": [`The new role, at most the caller's own: ${grantedRoles}.`, "admin"],
  holdings: ["Credentials that end with the membership."],
  api_keys_count: ["How many API keys there are.", 1],
  credentials_count: ["How many credentials there are.", 1],
  "holdings.api_keys": ["The newest 100 API keys."],
  "holdings.credentials": ["The newest 100 credentials."],
  "Invitation.id": ["The id of the invitation.", ids.invitation],
  "Invitation.email": ["The address that is invited.", "grace@example.com"],
  "Invitation.status": ["`pending`, `accepted`, `revoked` or `expired`.", "pending"],
  accepted_at: ["When it was accepted; `null`: it was not.", null],
  "Invitation.expires_at": ["When it expires: seven days after it was sent.", at.expires],
  "OwnInvitation.id": ["The id of the invitation.", ids.invitation],
  "OwnInvitation.organization": ["The organization that invites."],
  "OwnInvitation.expires_at": ["When it expires.", at.expires],
  "organization.id": ["The id of the organization.", ids.organization],
  "organization.name": ["The name of the organization.", "Acme Industries"],
  "invitations.invite.email": [
    "The address to invite. Its owner signs in with a provider that has verified it.",
    "grace@example.com"
  ],
  "invitations.invite.role": [`The role that the person gets: ${grantedRoles}. Left out: \`member\`.`, "member"],
  quota: ["The objects that the quota counts.", "projects"],
  limit: ["The name of the limit.", "creation"],
  held: ["How much is held, or counts against the limit.", 3],
  allowed: ["How much may be.", 100]
}
