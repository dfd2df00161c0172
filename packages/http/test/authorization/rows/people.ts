/** Rows 2 to 16 of the matrix: sessions, keys, organizations. */
import { authorization, email, name, type Row, receiver } from "./cells.ts"

export const people: ReadonlyArray<Row> = [
  {
    row: "2",
    says: "refresh",
    cells: "401 401 2 2 2 2 2 2 s s s s s",
    calls: [{ call: "auth.refresh" }]
  },
  {
    row: "3",
    says: "switch-org",
    cells: "401 401 2 2 2 2 2 2 s s s s s",
    calls: [{ call: "auth.switchOrg", kind: "other_org", body: ({ org_id }) => ({ org_id }), elsewhere: "n" }]
  },
  {
    row: "4",
    says: "logout",
    cells: "401 401 2 2 2 2 2 2 s s s s s",
    calls: [{ call: "auth.logout", success: 204 }]
  },
  {
    row: "4b",
    says: "own sessions: list, end",
    cells: "401 401 2 2 2 2 2 2 s s s s s",
    calls: [{ call: "auth.sessions" }, { call: "auth.endSession", kind: "session", success: 204 }]
  },
  {
    row: "5",
    says: "whoami, client-address",
    cells: "401 401 2 2 2 2 2 2 2 2 2 2 2",
    calls: [{ call: "auth.whoami" }, { call: "auth.clientAddress" }]
  },
  {
    row: "6",
    says: "revoke own key (self or its id; self with a session: 404; a pending account's key: 204)",
    cells: "401 401 404 n 404 404 404 404 2 2 2 2 2",
    calls: [
      { call: "apiKeys.revokeSelf", success: 204, except: { PK: "2" } },
      {
        call: "apiKeys.revoke",
        as: "itself",
        kind: "own_key",
        success: 204,
        except: { P: "-", X: "-", O: "-", A: "-", M: "-", V: "-", PK: "2" }
      }
    ]
  },
  {
    row: "7",
    says: "create key, approve a CLI login",
    cells: "401 401 a n 2 2 2 2 s s s s s",
    calls: [
      { call: "apiKeys.create", body: name, success: 201 },
      { call: "apiKeys.createBare", body: name, success: 201 },
      { call: "cli.authorize", body: authorization, success: 201 }
    ]
  },
  {
    row: "7b",
    says: "rotate a key (its creator's session; else 404)",
    cells: "401 401 a n 2/404 2/404 2/404 2/404 s s s s s",
    calls: [{ call: "apiKeys.rotate", kind: "key", success: 201 }]
  },
  {
    row: "8",
    says: "list keys, read one of them",
    cells: "401 401 a n 2 2 f f 2 f f 2 2",
    calls: [
      { call: "apiKeys.list", filtered: ["api_keys", "mine"] },
      { call: "apiKeys.listBare", filtered: ["api_keys", "mine"] },
      { call: "apiKeys.get", kind: "key", except: { M: "2/404", V: "2/404", KP: "2/i", KB: "2/i" } }
    ]
  },
  {
    row: "9",
    says: "revoke another key",
    cells: "401 401 a n 2 2 2/404 2/404 k k k k k",
    calls: [{ call: "apiKeys.revoke", kind: "others_key", success: 204 }]
  },
  {
    row: "10",
    says: "regions, sizes",
    cells: "401 401 a n 2 2 2 2 2 2 2 2 2",
    calls: [{ call: "regions.list" }, { call: "endpoints.sizes" }]
  },
  {
    row: "11",
    says: "own memberships, organization, its usage, members",
    cells: "401 401 a n 2 2 2 2 2 i i 2 2",
    calls: [
      { call: "orgs.list" },
      { call: "orgs.get", kind: "organization" },
      { call: "orgs.usage", kind: "organization" },
      { call: "orgs.members", kind: "organization" }
    ]
  },
  {
    row: "11b",
    says: "account: the person, own memberships, what waits",
    cells: "401 401 a n 2 2 2 2 s s s s s",
    calls: [{ call: "auth.account", query: "?include=projects" }]
  },
  {
    row: "11c",
    says: "audit log",
    cells: "401 401 a n 2 2 r r 2 i i 2 c",
    calls: [{ call: "audit.list", kind: "organization" }]
  },
  {
    row: "12",
    says: "organization events, history",
    cells: "401 401 a n 2 2 2 2 2 i i 2 2",
    calls: [{ call: "events.stream" }, { call: "events.history" }]
  },
  {
    row: "13",
    says: "invitations (list, make, resend, revoke), other members, rename",
    cells: "401 401 a n 2 2 r r 2 i i c c",
    calls: [
      { call: "invitations.list", kind: "organization" },
      { call: "invitations.invite", kind: "organization", body: email, success: 201 },
      { call: "invitations.resend", kind: "invitation" },
      { call: "invitations.revoke", kind: "invitation", success: 204 },
      { call: "orgs.changeMember", kind: "member", body: () => ({ role: "viewer" }) },
      { call: "orgs.removeMember", kind: "member", success: 204 },
      { call: "orgs.rename", kind: "organization", body: name }
    ]
  },
  {
    row: "13b",
    says: "the same where an owner is made, changed or removed",
    cells: "401 401 a n 2 r* r r 2 i i c c",
    calls: [
      {
        call: "invitations.invite",
        as: "an owner",
        kind: "organization",
        body: () => ({ ...email(), role: "owner" }),
        success: 201
      },
      { call: "invitations.resend", as: "to an owner", kind: "owner_invitation" },
      { call: "orgs.changeMember", as: "make an owner", kind: "member", body: () => ({ role: "owner" }) },
      { call: "orgs.changeMember", as: "of an owner", kind: "owner_member", body: () => ({ role: "member" }) },
      { call: "orgs.removeMember", as: "an owner", kind: "owner_member", success: 204 }
    ]
  },
  {
    row: "13c",
    says: "leave (remove oneself)",
    cells: "401 401 a n 2 2 2 2 2 i i c c",
    calls: [
      { call: "orgs.removeMember", as: "leave", kind: "leave", query: "?confirm_self_lockout=true", success: 204 }
    ]
  },
  {
    row: "13d",
    says: "show what a removal ends (own: all members)",
    cells: "401 401 a n 2 2 r r 2 i i c c",
    calls: [
      { call: "orgs.holdings", kind: "member" },
      { call: "orgs.holdings", as: "own", kind: "leave", except: { M: "2", V: "2" } }
    ]
  },
  {
    row: "13e",
    says: "own invitations: list, accept, decline",
    cells: "401 401 2 2 2 2 2 2 2 i i c c",
    calls: [
      { call: "ownInvitations.list" },
      { call: "ownInvitations.accept", kind: "own_invitation" },
      { call: "ownInvitations.decline", kind: "own_invitation", success: 204 }
    ]
  },
  {
    row: "13f",
    says: "webhooks: list, read, make, change, delete, rotate the secret, test, replay, attempts",
    cells: "401 401 a n 2 2 r r 2 i i c c",
    calls: [
      { call: "webhooks.list", kind: "organization" },
      { call: "webhooks.create", kind: "organization", body: receiver, success: 201 },
      { call: "webhooks.get", kind: "webhook" },
      { call: "webhooks.update", kind: "webhook", body: receiver },
      { call: "webhooks.delete", kind: "webhook", success: 204 },
      { call: "webhooks.rotateSecret", kind: "webhook", success: 201 },
      { call: "webhooks.test", kind: "webhook" },
      { call: "webhooks.replay", kind: "webhook" },
      { call: "webhooks.deliveries", kind: "webhook" }
    ]
  },
  {
    row: "14",
    says: "create an organization",
    cells: "401 401 a 2 2 2 2 2 s s s s s",
    calls: [{ call: "orgs.create", body: name, success: 201 }]
  },
  {
    row: "14b",
    says: "delete the organization",
    cells: "401 401 a n 2 r r r 2 i i c c",
    calls: [{ call: "orgs.delete", kind: "organization", success: 204 }]
  },
  {
    row: "15",
    says: "list projects",
    cells: "401 401 a n 2 2 2 2 2 f f 2 2",
    calls: [{ call: "projects.list", filtered: ["projects", "id=project_id"] }]
  },
  {
    row: "16",
    says: "create a project",
    cells: "401 401 a n 2 2 2 r 2 i i c c",
    calls: [{ call: "projects.create", body: name, success: 201 }]
  }
]
