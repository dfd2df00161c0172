/**
 * Notices by which a page confirms a form. The query of its address names one of these notices, so that a forged link
 * cannot show any other text.
 *
 * Pitfall: saying what an operation does now. It may end before the page is read, and the notice stays for a while.
 */
const notices = {
  "project-created": "The project was created.",
  "project-renamed": "The project was renamed.",
  "project-deleted": "The deletion of the project was requested.",
  "branch-created": "The branch was created.",
  "branch-changed": "The branch was changed.",
  "branch-default": "The branch is the default branch now.",
  "branch-resetting": "A reset of the branch was requested.",
  "branch-deleted": "The deletion of the branch was requested.",
  "endpoint-added": "The endpoint was added.",
  "endpoint-changed": "The endpoint was changed.",
  "endpoint-disabled": "The endpoint was disabled.",
  "endpoint-enabled": "The endpoint was enabled.",
  "endpoint-deleted": "The deletion of the endpoint was requested.",
  "operation-cancelled": "The cancellation of the operation was requested.",
  "rule-changed": "The rule was changed.",
  "rule-added": "The network was added.",
  "rule-removed": "The network was removed.",
  "rules-reset": "Every rule was removed. The project accepts connections from any address.",
  "endpoint-starting": "The start of the endpoint was requested.",
  "endpoint-suspending": "The suspension of the endpoint was requested.",
  "key-revoked": "The key was revoked.",
  "credential-revoked": "The credential was revoked, and its sessions have ended.",
  "invitation-declined": "The invitation was declined.",
  invited: "The invitation is open for seven days. Give the person the link.",
  "invitation-renewed": "The invitation is open for another seven days.",
  "invitation-revoked": "The invitation was revoked.",
  "role-changed": "The role was changed.",
  "member-removed": "The member was removed.",
  "organization-created": "The organization was created, and you are its owner. Invite the people you work with.",
  "organization-renamed": "The organization was renamed.",
  "organization-deleted": "The organization was deleted.",
  "webhook-changed": "The webhook was changed.",
  "webhook-tested": "The test takes its place behind the events that wait. Its attempt appears below.",
  "webhook-replayed": "The webhook goes on.",
  "webhook-deleted": "The webhook was deleted.",
  "session-ended": "The session was ended.",
  "sessions-ended": "All other sessions were ended."
} as const

export type NoticeName = keyof typeof notices

const isNotice = (name: string): name is NoticeName => Object.hasOwn(notices, name)

export const noticeIn = (query: URLSearchParams): string | undefined => {
  const name = query.get("done") ?? ""
  return isNotice(name) ? notices[name] : undefined
}

export const withNotice = (path: string, notice: NoticeName): string =>
  `${path}${path.includes("?") ? "&" : "?"}done=${notice}`
