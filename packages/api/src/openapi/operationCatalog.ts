/**
 * What each operation does and answers, one row per operation id. Who may call it, how often, and whether it can be
 * repeated is not written here: it is derived from the endpoint's annotations.
 */
export interface OperationEntry {
  readonly text: string
  /** What the answer is; by status where there are several. */
  readonly answer: string | Readonly<Record<number, string>>
}

const keyAnswer = "The API key and its secret, which is shown this once."
const history =
  "Pages of the durable log, for those who missed events. If `after` is older than the log, the oldest event that is kept is the first one and `complete` is `false`. `include=names` adds the names of what the events mention."
const stream =
  "Every change as a server-sent event. `Last-Event-ID` resumes after an event; where events are missing, a `resume.gap.v1` says so, and the client reads the state again. A stream ends with its credential, and after 30 minutes at the latest; clients reconnect."
const streamAnswer = "The stream: blocks of `id`, `event` and `data`, and comments as heartbeats."
const scheduled = "The work that was started. The resource answers 404 from now on."

export const operationCatalog: Readonly<Record<string, OperationEntry>> = {
  "auth.switchOrg": {
    text: "The session acts in the named organization from now on, and gets a new token for it.",
    answer: "The new session token."
  },
  "auth.whoami": {
    text: "Every credential may call it, also that of a pending account.",
    answer: "Who calls, and what the credential may do."
  },
  "auth.account": {
    text: "What a page of the person begins with, in one call: the organizations, oldest first (at most 200), and how many invitations are pending (100 at most are counted). `include=projects` adds the names of the newest 100 projects of the organization.",
    answer: "The person, the organization that the session acts in, and the others."
  },
  "auth.sessions": { text: "The newest 1,000 sign-ins of the person who calls.", answer: "The sessions." },
  "auth.endSession": {
    text: "Its token is refused from now on, on every instance. API keys stay valid.",
    answer: "The session has ended."
  },
  "auth.clientAddress": {
    text: "The address that the caller's request comes from, behind the load balancers that the operator trusts.",
    answer: "The address."
  },
  "auth.refresh": {
    text: "For 12 hours after the sign-in a session gets new tokens, also when the one that is sent has expired.",
    answer: "The new session token."
  },
  "auth.logout": { text: "Takes a session token that is valid or has expired.", answer: "The session has ended." },
  "auth.providers": {
    text: "What a sign-in page needs. It needs no credential.",
    answer: "The providers, and the origin of the console."
  },
  "auth.exchange": {
    text: "Turns the id token of an identity provider into a session. The first sign-in creates the account and its personal organization, and accepts an only open invitation.",
    answer: "The session token."
  },
  "auth.jwks": { text: "With these keys other services verify session tokens.", answer: "The public keys." },
  "apiKeys.list": {
    text: "Administrators see all API keys of the organization, other members their own, a narrower key itself. Revoked keys are left out; expired ones stay for 30 days.",
    answer: "A page of API keys."
  },
  "apiKeys.listBare": { text: "The same as with the slash at the end.", answer: "A page of API keys." },
  "apiKeys.create": {
    text: "The key acts as the person who creates it, within its capability and scope, until it expires or is revoked.",
    answer: keyAnswer
  },
  "apiKeys.createBare": { text: "The same as with the slash at the end.", answer: keyAnswer },
  "apiKeys.revokeSelf": { text: "A key of any capability may revoke itself.", answer: "The key is revoked." },
  "apiKeys.get": { text: "An API key that the list shows.", answer: "The API key." },
  "apiKeys.rotate": {
    text: "Only the key's creator may do it. The key keeps its id, name and rights; its open event streams end.",
    answer: "The API key and its new secret, which is shown this once."
  },
  "apiKeys.revoke": {
    text: "The key is refused from now on, on every instance, and its event streams end.",
    answer: "The key is revoked."
  },
  "credentials.report": {
    text: "For scanners of leaked secrets. The answer is the same whether the secret is a key or not.",
    answer: "The report is taken. If it was a key, the key is revoked."
  },
  "cli.authorize": {
    text: "What the page `/cli/authorize` of the console calls when a person authorizes a command line.",
    answer: "The code, for the redirect to the command line."
  },
  "cli.exchange": {
    text: "The last step of `narthex login`. Every wrong member gets the same refusal.",
    answer: keyAnswer
  },
  "regions.list": { text: "The regions in which projects can be created now.", answer: "The regions." },
  "projects.list": {
    text: "The projects of the organization; a key of one project or branch sees that project. `include=endpoint` adds the endpoint of each, and when it was used last.",
    answer: "A page of projects."
  },
  "projects.create": {
    text: "Makes the project, its default branch `main` and a read-write endpoint, which is suspended until the first connection. The work is one operation; wait for it before you connect.",
    answer: "The project, its default branch and endpoint, and the operation that makes them."
  },
  "projects.get": { text: "One project.", answer: "The project." },
  "projects.overview": {
    text: "One project, and the parts of it that `include` names, each as its own list answers it: the newest 1,000 branches, the newest 1,000 endpoints, the newest 10 operations, and the allowlist.",
    answer: "The project, and the parts that the query asks for."
  },
  "projects.rename": { text: "The name can change; the region cannot.", answer: "The project." },
  "projects.delete": {
    text: "Deletes its branches, endpoints and data, revokes the keys and credentials that are scoped to it, and ends its event streams.",
    answer: scheduled
  },
  "branches.list": { text: "The branches of the project.", answer: "A page of branches." },
  "branches.create": {
    text: "Copies a branch with its data. It has no endpoint unless the body asks for one.",
    answer: "The branch, its endpoint if it has one, and the work that makes them."
  },
  "branches.get": { text: "One branch.", answer: "The branch." },
  "branches.change": { text: "Members that are left out stay as they are.", answer: "The branch." },
  "branches.delete": {
    text: "Deletes its endpoints, credentials and data. The default branch, a protected one, and one that others were copied from are refused.",
    answer: scheduled
  },
  "branches.reset": {
    text: "Replaces the branch's data by the present data of its parent. Its sessions end; its endpoints and credentials stay. The default branch, a protected one, and one without a parent are refused.",
    answer: "The branch, and the work that was started."
  },
  "branches.setDefault": {
    text: "New branches are copied from the default branch unless they name another.",
    answer: "The branch, and the work that was started."
  },
  "branches.mint": {
    text: "Makes a Postgres role on the branch, and a connection string with its password. Minting does not start a compute; the connection does.",
    answer: "The credential, and the password and connection string, which are shown this once."
  },
  "branches.credentials": {
    text: "The Postgres roles that are valid, and ended ones until a compute has confirmed their end.",
    answer: "A page of credentials."
  },
  "branches.revokeCredential": {
    text: "Answers once a running compute has ended the role's sessions. If it does not confirm within 10 seconds, the answer is 503: the role is revoked all the same, and a repetition waits again.",
    answer: "The role is revoked, and its sessions have ended."
  },
  "sandboxes.create": {
    text: "A copy of a branch, an endpoint and a read-write credential in one call. All three are deleted after `ttl_seconds`, an hour unless it says otherwise. Made for agents and tests.",
    answer: "The branch, its endpoint, and the credential, whose password is shown this once."
  },
  "endpoints.list": { text: "The endpoints of the project.", answer: "A page of endpoints." },
  "endpoints.create": {
    text: "Gives a branch another endpoint: a read-only one, or the read-write one if it has none.",
    answer: "The endpoint, and the work that was started."
  },
  "endpoints.get": { text: "One endpoint.", answer: "The endpoint." },
  "endpoints.change": {
    text: "Members that are left out stay as they are.",
    answer: "The endpoint, and the work that was started."
  },
  "endpoints.delete": { text: "Ends its connections. The data of the branch stays.", answer: scheduled },
  "endpoints.start": {
    text: "Starts the compute ahead of the first connection, which would start it too.",
    answer: "The endpoint, and the work that was started; none: its compute runs already."
  },
  "endpoints.suspend": {
    text: "Ends its connections and stops the compute; the next connection starts it again.",
    answer: "The endpoint, and the work that was started; none: its compute is suspended already."
  },
  "operations.list": {
    text: "The work of the project, of the last 30 days. Filters are combined: an operation fits all that are given.",
    answer: "A page of operations."
  },
  "operations.get": {
    text: "With `wait` the call answers when the operation has ended, or when the time is over, with the status reached by then.",
    answer: "The operation."
  },
  "operations.cancel": {
    text: "Deletions and `apply_config` cannot be cancelled, nor can an operation that has ended.",
    answer: "The operation, `cancelled` or `cancelling`."
  },
  "ipAllow.list": { text: "All rules; the list has no pages.", answer: "The rules." },
  "ipAllow.add": {
    text: "With the first rule, only the listed networks may connect to the project's endpoints. Open connections from elsewhere are ended. Proxies know of it within a second or so, and within 30 seconds at the latest.",
    answer: { 200: "The network was listed already: its label and expiry are replaced.", 201: "The new rule." }
  },
  "ipAllow.check": {
    text: "What a proxy would decide by the rules that are in force now.",
    answer: "Whether the address may connect, and by which rule."
  },
  "ipAllow.refusals": {
    text: "One entry for each address and endpoint, newest first: at most 100 of a project, for 7 days after the last refusal. They are the reports of proxies, some seconds late; a refusal that repeats moves to the front.",
    answer: "A page of refused clients."
  },
  "ipAllow.remove": {
    text: "Connections that the remaining rules do not admit are ended. Without the last rule, every address may connect.",
    answer: "The network is removed."
  },
  "ipAllow.removeSplit": {
    text: "The same for clients that do not encode the slash of the network.",
    answer: "The network is removed."
  },
  "ipAllow.reset": {
    text: "Every address may connect from now on. With any query it is refused, because the caller probably meant to remove one network.",
    answer: "The list is empty."
  },
  "orgs.list": { text: "A key sees the organization that it acts in.", answer: "A page of organizations." },
  "orgs.create": {
    text: "The caller becomes its owner. To act in it, switch the session with `POST /v1/auth/switch-org`.",
    answer: "The organization."
  },
  "orgs.get": { text: "The organization that the credential acts in; any other is 404.", answer: "The organization." },
  "orgs.rename": { text: "The name need not be unique.", answer: "The organization." },
  "orgs.delete": {
    text: "Only owners may do it, and only without projects in it. Its API keys and invitations are revoked. A personal organization cannot be deleted.",
    answer: "The organization is deleted."
  },
  "orgs.usage": { text: "Every quota of the organization.", answer: "The quotas." },
  "orgs.members": { text: "The members of the organization and their roles.", answer: "A page of members." },
  "orgs.changeMember": {
    text: "No one grants a role above their own. The last owner cannot be demoted.",
    answer: "The member."
  },
  "orgs.holdings": { text: "What a removal would end: read it before.", answer: "The API keys and credentials." },
  "orgs.removeMember": {
    text: "Ends the person's API keys, and their database credentials unless they are handed over. Members may remove themselves; the last owner may not.",
    answer: "The membership has ended."
  },
  "invitations.list": { text: "The invitations of the organization.", answer: "A page of invitations." },
  "invitations.invite": {
    text: "No mail is sent: the person signs in with the address, and accepts.",
    answer: "The invitation."
  },
  "invitations.resend": { text: "The seven days begin again.", answer: "The invitation." },
  "invitations.revoke": { text: "Only a pending one can be revoked.", answer: "The invitation is revoked." },
  "ownInvitations.list": {
    text: "Those for the caller's verified address, of every organization.",
    answer: "A page of invitations."
  },
  "ownInvitations.accept": {
    text: "The caller becomes a member. The session stays in its organization; switch it with `POST /v1/auth/switch-org`.",
    answer: "The organization, with the caller's role."
  },
  "ownInvitations.decline": { text: "The organization may invite again.", answer: "The invitation is declined." },
  "events.stream": { text: `${stream} The stream has the events of all projects.`, answer: streamAnswer },
  "events.history": { text: history, answer: "A page of events." },
  "events.projectStream": { text: `${stream} The stream has the events of one project.`, answer: streamAnswer },
  "events.projectHistory": { text: history, answer: "A page of events." },
  "proxy.resolve": {
    text: "Finds the endpoint that a client names, and the verifier of a role, by which the proxy authenticates the client.",
    answer: "Where the endpoint is, and the verifier if the role is valid."
  },
  "proxy.allowlists": {
    text: "The rules of at most 1,000 projects.",
    answer: "The lists; projects that do not exist are left out."
  },
  "proxy.changes": {
    text: "One frame `change` for each changed allowlist, one frame `endpoint` for each endpoint that was disabled, suspended or deleted, and one frame `cancel` for each cancel request that a proxy hands over. A change is a hint: after a reconnect the proxy reads its lists and endpoints again.",
    answer: streamAnswer
  },
  "proxy.wake": {
    text: "Answers once the compute runs. The address is checked against the allowlist again, in the transaction that wakes.",
    answer: "Where the compute runs."
  },
  "proxy.cancel": {
    text: "Every proxy gets a frame `cancel` on its stream of changes, and the one that has the session forwards the request. Best effort.",
    answer: "The proxies are told."
  },
  "proxy.activity": { text: "By these reports idle computes are suspended.", answer: "The report is taken." },
  "proxy.refusals": {
    text: "One entry for each address and endpoint: at most 200. A report that is repeated with its number counts once.",
    answer: "The report is taken."
  },
  "service.livez": { text: "For supervisors: answers as long as the process can.", answer: "The process is alive." },
  "service.readyz": {
    text: "For load balancers: storage can be reached, migrations are done, and the server is not stopping.",
    answer: "The server takes requests."
  }
}
