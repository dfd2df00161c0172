/**
 * Where people reach each operation of the API: its command, and the route of the console that calls it or shows its
 * answer. An operation without either says why. `surfaces.test.ts` compares the table with the API, the command line
 * and the console.
 */

/** Why there is none. */
export interface None {
  readonly because: string
}

export interface Surface {
  /** The words after `narthex`. */
  readonly command: string | None
  /** Method and path of the route. */
  readonly page: string | None
}

const none = (because: string): None => ({ because })

const project = "/orgs/:org_id/projects/:project_id"
const branch = `${project}/branches/:branch_id`
const endpoint = `${project}/endpoints/:endpoint_id`
const overview = `GET ${project}`

const spelling = none("Another spelling of a call that has one.")
const ofProxies = none("Proxies call it.")
const ofSession = none("It ends or moves a session of the console; the command line acts with an API key.")
const ofConsole = none("A key never signs in: a person does, in the console.")
const ofSupervisors = none("Supervisors and load balancers call it.")

export const operations: Readonly<Record<string, Surface>> = {
  "auth.providers": { command: "login", page: "GET /sign-in" },
  "auth.exchange": { command: ofConsole, page: "GET /sign-in/callback" },
  "auth.refresh": { command: ofSession, page: none("The console does it before a session token expires.") },
  "auth.switchOrg": { command: ofSession, page: "POST /api/auth/switch-org" },
  "auth.logout": { command: ofSession, page: "POST /sign-out" },
  "auth.whoami": { command: "whoami", page: "GET /account" },
  "auth.account": {
    command: none(
      "It is what pages of a signed-in person begin with; a key acts in one organization, as `whoami` shows."
    ),
    page: "GET /orgs/:org_id/projects"
  },
  "auth.sessions": { command: "session list", page: "GET /account" },
  "auth.endSession": { command: "session end", page: "POST /account/sessions/:session_id/end" },
  "auth.clientAddress": { command: "ip-allow add", page: `GET ${project}/ip-allow` },
  "auth.jwks": {
    command: none("Services that verify session tokens call it."),
    page: none("Services that verify session tokens call it.")
  },

  "audit.list": { command: "audit list", page: "GET /orgs/:org_id/settings/audit" },

  "webhooks.list": { command: "webhook list", page: "GET /orgs/:org_id/settings/webhooks" },
  "webhooks.create": { command: "webhook create", page: "POST /orgs/:org_id/settings/webhooks" },
  "webhooks.get": { command: "webhook get", page: "GET /orgs/:org_id/settings/webhooks/:webhook_id" },
  "webhooks.update": { command: "webhook update", page: "POST /orgs/:org_id/settings/webhooks/:webhook_id" },
  "webhooks.delete": { command: "webhook delete", page: "POST /orgs/:org_id/settings/webhooks/:webhook_id/delete" },
  "webhooks.rotateSecret": {
    command: "webhook rotate-secret",
    page: "POST /orgs/:org_id/settings/webhooks/:webhook_id/rotate-secret"
  },
  "webhooks.test": { command: "webhook test", page: "POST /orgs/:org_id/settings/webhooks/:webhook_id/test" },
  "webhooks.replay": { command: "webhook replay", page: "POST /orgs/:org_id/settings/webhooks/:webhook_id/replay" },
  "webhooks.deliveries": {
    command: "webhook deliveries",
    page: "GET /orgs/:org_id/settings/webhooks/:webhook_id"
  },

  "apiKeys.list": { command: "api-key list", page: "GET /orgs/:org_id/api-keys" },
  "apiKeys.listBare": { command: spelling, page: spelling },
  "apiKeys.create": { command: "api-key create", page: "POST /orgs/:org_id/api-keys" },
  "apiKeys.createBare": { command: spelling, page: spelling },
  "apiKeys.get": { command: "api-key get", page: "GET /orgs/:org_id/api-keys/:api_key_id" },
  "apiKeys.rotate": { command: "api-key rotate", page: "POST /orgs/:org_id/api-keys/:api_key_id/rotate" },
  "apiKeys.revoke": { command: "api-key revoke", page: "POST /orgs/:org_id/api-keys/:api_key_id/revoke" },
  "apiKeys.revokeSelf": { command: "logout", page: none("The console has no API key.") },
  "credentials.report": {
    command: none("Scanners of leaked secrets call it, without a credential."),
    page: none("Scanners of leaked secrets call it, without a credential.")
  },
  "cli.authorize": {
    command: none("The console calls it when a person authorizes a login."),
    page: "POST /cli/authorize"
  },
  "cli.exchange": { command: "login", page: none("The command line calls it with the code of its redirect.") },

  "endpoints.sizes": { command: "size list", page: `GET ${endpoint}` },
  "regions.list": { command: "region list", page: "GET /orgs/:org_id/regions" },
  "projects.list": { command: "project list", page: "GET /orgs/:org_id/projects" },
  "projects.create": { command: "project create", page: "POST /orgs/:org_id/projects" },
  "projects.get": { command: "project get", page: `GET ${project}/settings` },
  "projects.overview": { command: "project overview", page: overview },
  "projects.rename": { command: "project rename", page: `POST ${project}/rename` },
  "projects.delete": { command: "project delete", page: `POST ${project}/delete` },

  "branches.list": { command: "branch list", page: `GET ${project}/branches` },
  "branches.create": { command: "branch create", page: `POST ${project}/branches` },
  "branches.get": { command: "branch get", page: `GET ${branch}` },
  "branches.change": { command: "branch rename", page: `POST ${branch}` },
  "branches.reset": { command: "branch reset", page: `POST ${branch}/reset` },
  "branches.setDefault": { command: "branch set-default", page: `POST ${branch}/set-default` },
  "branches.delete": { command: "branch delete", page: `POST ${branch}/delete` },
  "branches.mint": { command: "credential create", page: `POST ${project}/credentials` },
  "branches.credentials": { command: "credential list", page: `GET ${branch}/credentials` },
  "branches.revokeCredential": { command: "credential revoke", page: `POST ${branch}/credentials/revoke` },
  "sandboxes.create": { command: "sandbox create", page: `POST ${project}/sandboxes` },

  "endpoints.list": { command: "endpoint list", page: `GET ${project}/endpoints` },
  "endpoints.create": { command: "endpoint create", page: `POST ${project}/endpoints` },
  "endpoints.get": { command: "endpoint get", page: `GET ${endpoint}` },
  "endpoints.change": { command: "endpoint set", page: `POST ${endpoint}` },
  "endpoints.start": { command: "endpoint start", page: `POST ${endpoint}/start` },
  "endpoints.suspend": { command: "endpoint suspend", page: `POST ${endpoint}/suspend` },
  "endpoints.delete": { command: "endpoint delete", page: `POST ${endpoint}/delete` },

  "operations.list": { command: "operation list", page: `GET ${project}/operations` },
  "operations.get": { command: "operation get", page: `GET ${project}/operations` },
  "operations.cancel": { command: "operation cancel", page: `POST ${project}/operations/:operation_id/cancel` },

  "ipAllow.list": { command: "ip-allow list", page: `GET ${project}/ip-allow` },
  "ipAllow.add": { command: "ip-allow add", page: `POST ${project}/ip-allow` },
  "ipAllow.check": { command: "ip-allow check", page: `GET ${project}/ip-allow` },
  "ipAllow.refusals": { command: "ip-allow refusals", page: `GET ${project}/ip-allow` },
  "ipAllow.remove": { command: "ip-allow remove", page: `POST ${project}/ip-allow/remove` },
  "ipAllow.removeSplit": { command: spelling, page: spelling },
  "ipAllow.reset": { command: "ip-allow reset", page: `POST ${project}/ip-allow/reset` },

  "orgs.list": { command: "org list", page: none("Pages begin with `auth.account`, which has the organizations too.") },
  "orgs.create": { command: "org create", page: "POST /orgs/new" },
  "orgs.get": { command: "org get", page: "GET /orgs/:org_id/settings" },
  "orgs.rename": { command: "org rename", page: "POST /orgs/:org_id/settings" },
  "orgs.delete": { command: "org delete", page: "POST /orgs/:org_id/settings/delete" },
  "orgs.usage": { command: "org usage", page: "GET /orgs/:org_id/settings" },
  "orgs.members": { command: "member list", page: "GET /orgs/:org_id/members" },
  "orgs.changeMember": { command: "member set-role", page: "POST /orgs/:org_id/members/:user_id/role" },
  "orgs.holdings": { command: "member remove", page: "GET /orgs/:org_id/members/:user_id" },
  "orgs.removeMember": { command: "member remove", page: "POST /orgs/:org_id/members/:user_id/remove" },

  "invitations.list": { command: "invitation list", page: "GET /orgs/:org_id/members" },
  "invitations.invite": { command: "invitation create", page: "POST /orgs/:org_id/invitations" },
  "invitations.resend": {
    command: "invitation resend",
    page: "POST /orgs/:org_id/invitations/:invitation_id/resend"
  },
  "invitations.revoke": {
    command: "invitation revoke",
    page: "POST /orgs/:org_id/invitations/:invitation_id/revoke"
  },
  "ownInvitations.list": { command: "invitation list", page: "GET /invitations" },
  "ownInvitations.accept": { command: "invitation accept", page: "POST /invitations/:invitation_id/accept" },
  "ownInvitations.decline": { command: "invitation decline", page: "POST /invitations/:invitation_id/decline" },

  "events.stream": { command: "events tail", page: "GET /api/events" },
  "events.history": { command: "events history", page: "GET /orgs/:org_id/activity" },
  "events.projectStream": { command: "events tail", page: "GET /api/projects/:project_id/events" },
  "events.projectHistory": { command: "events history", page: overview },

  "proxy.resolve": { command: ofProxies, page: ofProxies },
  "proxy.allowlists": { command: ofProxies, page: ofProxies },
  "proxy.changes": { command: ofProxies, page: ofProxies },
  "proxy.wake": { command: ofProxies, page: ofProxies },
  "proxy.cancel": { command: ofProxies, page: ofProxies },
  "proxy.activity": { command: ofProxies, page: ofProxies },
  "proxy.refusals": { command: ofProxies, page: ofProxies },
  "service.livez": { command: ofSupervisors, page: ofSupervisors },
  "service.readyz": { command: ofSupervisors, page: ofSupervisors }
}
