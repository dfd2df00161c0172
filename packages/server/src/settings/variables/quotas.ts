/** Variables of the quotas (docs/design/api.md A10 to A12). Quotas apply whatever `NARTHEX_RATE_LIMITS` is. */
import { defaultQuotas } from "@narthex/core"
import * as forms from "../forms.ts"
import { variable } from "../Variable.ts"

export const quotas = {
  quotas: {
    projects: variable("NARTHEX_QUOTA_PROJECTS", forms.count, defaultQuotas.projects, "Projects of an organization."),
    branches: variable("NARTHEX_QUOTA_BRANCHES", forms.count, defaultQuotas.branches, "Branches of an organization."),
    endpoints: variable(
      "NARTHEX_QUOTA_ENDPOINTS",
      forms.count,
      defaultQuotas.endpoints,
      "Endpoints of an organization."
    ),
    running_computes: variable(
      "NARTHEX_QUOTA_RUNNING_COMPUTES",
      forms.count,
      defaultQuotas.running_computes,
      "Computes of an organization that run at the same time."
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
