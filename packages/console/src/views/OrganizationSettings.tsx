/** The settings of an organization: its name, what it holds of its quotas, and its end. */
import type { OrganizationView, QuotaRecord } from "@narthex/api"
import { Actions } from "../components/Actions.tsx"
import { Card } from "../components/Card.tsx"
import { CopyField } from "../components/CopyField.tsx"
import { Dialog } from "../components/Dialog.tsx"
import type { FieldError } from "../components/ErrorSummary.tsx"
import { Facts } from "../components/Facts.tsx"
import { Field } from "../components/Field.tsx"
import { Ago } from "../components/Times.tsx"
import type { Frame } from "../shell/Frame.ts"
import { Page } from "../shell/Page.tsx"
import { errorOf } from "./Members.tsx"

export interface OrganizationSettingsPageProps {
  readonly frame: Frame
  readonly organization: OrganizationView
  readonly usage: ReadonlyArray<typeof QuotaRecord.Type>
  readonly name: string
  readonly errors: ReadonlyArray<FieldError>
  readonly notice?: string | undefined
  readonly problem?: string | undefined
}

export const OrganizationSettingsPage = (props: OrganizationSettingsPageProps) => {
  const { errors, frame, name, notice, organization, problem } = props
  const here = `/orgs/${organization.id}/settings`
  return (
    <Page title="Settings" frame={frame} section="settings" notice={notice} problem={problem} errors={errors}>
      <Card id="organization">
        {frame.permissions.includes("rename_organization") ? (
          <form method="post" action={here} class="stack slim">
            <Field name="name" label="Name" value={name} required maxLength={128} error={errorOf(errors, "name")} />
            <Actions>
              <button type="submit" class="primary">
                Rename
              </button>
            </Actions>
          </form>
        ) : null}
        <Facts
          items={[
            ["Kind", organization.personal ? "Personal: it cannot be left or deleted" : "Team"],
            ["Your role", organization.role],
            ["Created", <Ago at={organization.created_at} />]
          ]}
        />
        <CopyField
          id="organization-id"
          label="Copy the id of the organization"
          text={organization.id}
          title="ID"
          wide
        />
      </Card>
      <Usage {...props} />
      {frame.permissions.includes("read_audit") ? (
        <Card id="audit" title="Audit log">
          <p>
            <a href={`${here}/audit`}>What people, keys and the operator did</a> in this organization, with a file for
            download.
          </p>
        </Card>
      ) : null}
      {frame.permissions.includes("manage_webhooks") ? (
        <Card id="webhooks" title="Webhooks">
          <p>
            <a href={`${here}/webhooks`}>Where events are delivered</a>: receivers of this organization's events.
          </p>
        </Card>
      ) : null}
      {organization.personal ? null : <End {...props} />}
    </Page>
  )
}

const quotaWords: Readonly<Record<string, string>> = {
  projects: "Projects",
  branches: "Branches",
  branches_per_project: "Branches of the largest project",
  sandboxes: "Branches that expire",
  endpoints: "Endpoints",
  credentials_per_branch: "Credentials of the branch with the most",
  running_computes: "Running computes",
  memory_bytes: "Memory of running computes",
  members: "Members and open invitations",
  invitations: "Open invitations",
  organizations: "Organizations that you created",
  webhooks: "Webhooks",
  disk_bytes: "Disk"
}

const gibibyte = 1024 ** 3

/** A quota's number with its unit: `0.25 GiB`, `12`. */
const amountOf = (quota: string, value: number): string =>
  quota.endsWith("_bytes") ? `${Math.round((value / gibibyte) * 100) / 100} GiB` : String(value)

/** Whether little room is left: nine tenths are taken. */
const isNearlyFull = (held: number, allowed: number) => held * 10 >= allowed * 9

const Usage = ({ organization, usage }: OrganizationSettingsPageProps) => (
  <Card id="usage" title="Usage">
    <ul class="quotas" aria-label="Usage of quotas">
      {usage
        .filter(({ quota }) => quota !== "organizations" || organization.personal)
        .map(({ allowed, held, quota }) => {
          const label = quotaWords[quota] ?? quota.replaceAll("_", " ")
          return (
            <li key={quota}>
              <span id={`quota-${quota}`}>{label}</span>
              <span class={isNearlyFull(held, allowed) ? "numbers full" : "numbers"}>
                {amountOf(quota, held)} of {amountOf(quota, allowed)}
              </span>
              <meter
                aria-labelledby={`quota-${quota}`}
                min={0}
                max={Math.max(1, allowed)}
                high={Math.max(1, allowed) * 0.9}
                value={Math.min(held, allowed)}
              />
            </li>
          )
        })}
    </ul>
    <p class="soft">The operator can raise a quota of this organization.</p>
  </Card>
)

/** Deletion asks for the name, because all of its members lose it. */
const End = ({ errors, frame, organization, usage }: OrganizationSettingsPageProps) => {
  const projects = usage.find(({ quota }) => quota === "projects")?.held ?? 0
  const home = `/orgs/${organization.id}`
  const typed = errorOf(errors, "typed")
  return (
    <Card id="end" title="Leave or delete">
      <div class="stack">
        <p>
          <a href={`${home}/members/${frame.user.id}#removal`}>Leave {organization.name}</a> shows what ends with your
          membership.
        </p>
        {!frame.permissions.includes("delete_organization") ? null : projects > 0 ? (
          <p>
            An organization with projects cannot be deleted.{" "}
            <a href={`${home}/projects`}>Delete {projects === 1 ? "its project" : `its ${projects} projects`} first</a>.
          </p>
        ) : (
          <>
            <p>
              The deletion ends every membership, invitation and API key of the organization, at once. It cannot be
              undone.
            </p>
            {typed === undefined ? null : (
              <p class="error" id="typed">
                {typed}
              </p>
            )}
            <div class="actions">
              <Dialog
                id="delete-organization"
                opener="Delete the organization"
                title={`Delete ${organization.name}?`}
                confirm="Delete the organization"
                action={`${home}/settings/delete`}
                typed={organization.name}
              >
                <p>Every membership, invitation and API key ends at once. This cannot be undone.</p>
              </Dialog>
            </div>
          </>
        )}
      </div>
    </Card>
  )
}
