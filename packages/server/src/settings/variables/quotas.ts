/** Variables of the quotas (docs/design/api.md A10 to A12). They apply whatever `NARTHEX_RATE_LIMITS` is. */
import { defaultQuotas } from "@narthex/core"
import * as forms from "../forms.ts"
import { variable } from "../Variable.ts"

export const quotas = {
  quotas: {
    projects: variable("NARTHEX_QUOTA_PROJECTS", forms.count, defaultQuotas.projects, "Projects of an organization."),
    branches: variable("NARTHEX_QUOTA_BRANCHES", forms.count, defaultQuotas.branches, "Branches of an organization."),
    branches_per_project: variable(
      "NARTHEX_QUOTA_BRANCHES_PER_PROJECT",
      forms.count,
      defaultQuotas.branches_per_project,
      "Branches of a project."
    ),
    sandboxes: variable(
      "NARTHEX_QUOTA_SANDBOXES",
      forms.count,
      defaultQuotas.sandboxes,
      "Sandboxes and other branches that expire, of an organization."
    ),
    endpoints: variable(
      "NARTHEX_QUOTA_ENDPOINTS",
      forms.count,
      defaultQuotas.endpoints,
      "Endpoints of an organization."
    ),
    credentials_per_branch: variable(
      "NARTHEX_QUOTA_CREDENTIALS_PER_BRANCH",
      forms.count,
      defaultQuotas.credentials_per_branch,
      "Database credentials of a branch."
    ),
    running_computes: variable(
      "NARTHEX_QUOTA_RUNNING_COMPUTES",
      forms.count,
      defaultQuotas.running_computes,
      "Computes of an organization that run at the same time."
    ),
    members: variable(
      "NARTHEX_QUOTA_MEMBERS",
      forms.count,
      defaultQuotas.members,
      "Members and pending invitations of an organization."
    ),
    invitations: variable(
      "NARTHEX_QUOTA_INVITATIONS",
      forms.count,
      defaultQuotas.invitations,
      "Pending invitations of an organization."
    ),
    organizations: variable(
      "NARTHEX_QUOTA_ORGANIZATIONS",
      forms.count,
      defaultQuotas.organizations,
      "Team organizations that a person creates. Each has quotas of its own."
    ),
    disk_bytes: variable(
      "NARTHEX_QUOTA_DISK",
      forms.bytes,
      defaultQuotas.disk_bytes,
      "Disk of the branches of an organization."
    ),
    personal_percent: variable(
      "NARTHEX_QUOTA_PERSONAL_PERCENT",
      forms.percent,
      defaultQuotas.personal_percent,
      "The share of each quota that a personal organization has, in percent. `NARTHEX_QUOTA_ORGANIZATIONS` is not divided."
    )
  }
}
