/**
 * The acts that leave an entry in the audit log, each with the facts that its entry notes (docs/design/audit.md, Acts).
 * Clients accept names that they do not know.
 */
const acts = {
  "session.created": ["provider"],
  "session.switched": [],
  "session.ended": [],
  "api_key.created": ["capability"],
  "api_key.rotated": [],
  "api_key.revoked": [],
  "api_key.reported": [],
  "cli_login.authorized": [],
  "project.created": [],
  "project.changed": [],
  "project.deleted": [],
  "branch.created": ["protected"],
  "branch.changed": ["protected"],
  "branch.deleted": [],
  "branch.reset": [],
  "branch.made_default": [],
  "sandbox.created": [],
  "credential.created": ["access"],
  "credential.revoked": [],
  "endpoint.created": ["type", "size"],
  "endpoint.changed": ["disabled", "size"],
  "endpoint.deleted": [],
  "endpoint.started": [],
  "endpoint.suspended": [],
  "operation.cancelled": [],
  "ip_rule.added": [],
  "ip_rule.removed": [],
  "ip_allowlist.reset": [],
  "organization.created": [],
  "organization.renamed": [],
  "organization.deleted": [],
  "member.role_changed": ["role"],
  "member.removed": [],
  "invitation.created": ["role"],
  "invitation.resent": [],
  "invitation.revoked": [],
  "invitation.accepted": [],
  "invitation.declined": [],
  "webhook.created": [],
  "webhook.changed": [],
  "webhook.deleted": [],
  "webhook.secret_rotated": [],
  "webhook.tested": [],
  "webhook.replayed": [],
  "account.enabled": [],
  "account.disabled": [],
  "quota.changed": ["quota", "allowed"],
  "region.added": [],
  "region.made_default": [],
  "region.retired": [],
  "signing_key.rotated": []
} as const satisfies Record<string, ReadonlyArray<string>>

export type AuditAction = keyof typeof acts

/** The names of the acts, and of the facts that the entry of each notes as `metadata`. */
export const auditActions: Readonly<Record<AuditAction, ReadonlyArray<string>>> = acts
