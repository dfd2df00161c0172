/**
 * What a page confirms after a form. The query of its address names one of these notices, so that a forged link cannot
 * show any other text.
 */
const notices = {
  "project-created": "The project is being created.",
  "project-renamed": "The project was renamed.",
  "project-deleted": "The project is being deleted.",
  "branch-created": "The branch is being created.",
  "branch-changed": "The branch was changed.",
  "branch-default": "The branch is the default branch now.",
  "branch-resetting": "The branch is being reset.",
  "branch-deleted": "The branch is being deleted.",
  "endpoint-added": "The endpoint was added.",
  "endpoint-changed": "The endpoint was changed.",
  "endpoint-disabled": "The endpoint was disabled.",
  "endpoint-enabled": "The endpoint was enabled.",
  "endpoint-deleted": "The endpoint is being deleted.",
  "operation-cancelled": "The operation is being cancelled.",
  "rule-changed": "The rule was changed.",
  "rule-added": "The network was added.",
  "rule-removed": "The network was removed.",
  "rules-reset": "Every rule was removed. The project accepts connections from any address.",
  "endpoint-starting": "The endpoint is starting.",
  "endpoint-suspending": "The endpoint is being suspended.",
  "key-revoked": "The key was revoked.",
  "credential-revoked": "The credential was revoked, and its sessions have ended.",
  "invitation-declined": "The invitation was declined."
} as const

export type Notice = keyof typeof notices

const isNotice = (name: string): name is Notice => Object.hasOwn(notices, name)

export const noticeIn = (query: URLSearchParams): string | undefined => {
  const name = query.get("done") ?? ""
  return isNotice(name) ? notices[name] : undefined
}

export const withNotice = (path: string, notice: Notice): string => `${path}?done=${notice}`
