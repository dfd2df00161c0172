/** Variables of sizes and quotas (docs/design/api.md A10 to A12, A37 to A41). Quotas apply whatever `NARTHEX_RATE_LIMITS` is. */
import { defaultQuotas } from "@narthex/core"
import * as forms from "../forms.ts"
import { sizesForm } from "../sizesForm.ts"
import { optional, variable } from "../Variable.ts"

export const quotas = {
  sizes: optional(
    "NARTHEX_SIZES",
    sizesForm,
    "none: computes have no limits of their own",
    'What computes may take of a machine, as JSON: [{"name","cpus","memory","disk","default"?: true}], for example {"name":"small","cpus":0.5,"memory":"1 GiB","disk":"20 GiB","default":true}. One of them is the default. People choose by name. An endpoint keeps the numbers that its size had when it was chosen.'
  ),
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
