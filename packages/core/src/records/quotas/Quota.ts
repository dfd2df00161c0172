/**
 * Quotas: how much an organization may have (docs/design/api.md, Quotas). The rules here are pure; `Quotas` applies them
 * under a lock.
 *
 * A quota is for what stays: projects, branches, bytes. How often something may happen is a rate limit (`limits/`).
 */
import { Context, Schema } from "effect"

/** In the order in which their counts are locked. */
export const quotaNames = [
  "projects",
  "branches",
  "branches_per_project",
  "sandboxes",
  "endpoints",
  "credentials_per_branch",
  "running_computes",
  "memory_bytes",
  "members",
  "invitations",
  "organizations",
  "webhooks",
  "disk_bytes"
] as const
export const QuotaName = Schema.Literals(quotaNames)
export type QuotaName = typeof QuotaName.Type

export type Amounts = Readonly<Record<QuotaName, number>>

export interface QuotaSettings extends Amounts {
  /** The share of each number that a personal organization has, in percent; `organizations` is not scaled. */
  readonly personal_percent: number
}

const gibibyte = 1024 ** 3

/** The documented quotas, which apply unless a host sets others. */
export const defaultQuotas: QuotaSettings = {
  projects: 100,
  branches: 1000,
  branches_per_project: 250,
  sandboxes: 250,
  endpoints: 1000,
  credentials_per_branch: 200,
  running_computes: 100,
  memory_bytes: 400 * gibibyte,
  members: 500,
  invitations: 200,
  organizations: 20,
  webhooks: 10,
  disk_bytes: 200 * gibibyte,
  personal_percent: 20
}

export const QuotaPolicy = Context.Reference<QuotaSettings>("@narthex/core/records/quotas/QuotaPolicy", {
  defaultValue: () => defaultQuotas
})

/** The facts that decide the quotas of an organization, apart from the settings. */
export interface QuotaTerms {
  readonly personal: boolean
  /** Numbers that the operator has set for this organization. */
  readonly overrides: Partial<Amounts>
}

/** How much of a quota an organization may have. A personal organization has at least 1. */
export const allowedOf = (settings: QuotaSettings, { overrides, personal }: QuotaTerms, quota: QuotaName): number => {
  const scaled = personal && quota !== "organizations"
  const general = scaled
    ? Math.max(1, Math.floor((settings[quota] * settings.personal_percent) / 100))
    : settings[quota]
  return overrides[quota] ?? general
}

/**
 * The amount that an organization holds of a quota, and the amount that it may have. `held` may be greater, because
 * quotas can be lowered.
 */
export interface QuotaUsage {
  readonly quota: QuotaName
  readonly held: number
  readonly allowed: number
}

/** The first quota that `added` exceeds. A quota of which nothing is added is not checked. */
export const firstExceeded = (usage: ReadonlyArray<QuotaUsage>, added: Partial<Amounts>): QuotaUsage | undefined =>
  usage.find(({ allowed, held, quota }) => {
    const more = added[quota] ?? 0
    return more > 0 && held + more > allowed
  })

/** The creation exceeds a quota. Repeating it helps only after something was removed or the quota was raised. */
export class QuotaExceeded extends Schema.TaggedError<QuotaExceeded>()("QuotaExceeded", {
  quota: QuotaName,
  held: Schema.Int,
  allowed: Schema.Int
}) {
  override get message() {
    const { held, remedy } = sentences[this.quota]
    return `${held(this.held)}; its quota is ${amount(this.quota, this.allowed)}. ${remedy}, or ask the operator for a higher quota.`
  }
}

/** Whether the amounts of a quota are bytes. */
export const inBytes = (quota: QuotaName): boolean => quota === "disk_bytes" || quota === "memory_bytes"

const amount = (quota: QuotaName, value: number): string =>
  inBytes(quota) ? `${Math.round((value / gibibyte) * 100) / 100} GiB` : String(value)

const has = (things: string) => (held: number) => `The organization has ${held} ${things}`

/** The held amount as the start of a sentence, and the remedy. */
const sentences: Record<QuotaName, { readonly held: (held: number) => string; readonly remedy: string }> = {
  projects: { held: has("projects"), remedy: "Delete a project" },
  branches: { held: has("branches"), remedy: "Delete a branch" },
  branches_per_project: {
    held: (held) => `The project has ${held} branches`,
    remedy: "Delete a branch of the project"
  },
  sandboxes: {
    held: has("branches that expire"),
    remedy: "Delete a sandbox, or wait until one expires"
  },
  endpoints: { held: has("endpoints"), remedy: "Delete an endpoint" },
  credentials_per_branch: {
    held: (held) => `The branch has ${held} credentials`,
    remedy: "Revoke a credential of the branch"
  },
  running_computes: { held: has("running computes"), remedy: "Suspend an endpoint" },
  memory_bytes: {
    held: (held) => `The running computes of the organization have ${amount("memory_bytes", held)} of memory`,
    remedy: "Suspend an endpoint or give it a smaller size"
  },
  members: {
    held: has("members and pending invitations"),
    remedy: "Remove a member or revoke an invitation"
  },
  invitations: { held: has("pending invitations"), remedy: "Revoke an invitation" },
  organizations: {
    held: (held) => `This account has created ${held} organizations`,
    remedy: "Delete an organization"
  },
  webhooks: { held: has("webhooks"), remedy: "Delete a webhook" },
  disk_bytes: {
    held: (held) => `The data of the organization takes ${amount("disk_bytes", held)}`,
    remedy: "Delete a branch or data"
  }
}
