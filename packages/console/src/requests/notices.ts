/**
 * What a page confirms after a form. The query of its address names one of these notices, so that a forged link cannot
 * show any other text.
 */
const notices = {
  "project-created": "The project is being created.",
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
