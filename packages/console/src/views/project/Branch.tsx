/** The page of a branch: its facts, endpoints, properties, and its deletion. */
import { Card } from "../../components/Card.tsx"
import { Checkbox } from "../../components/Checkbox.tsx"
import { CopyField } from "../../components/CopyField.tsx"
import { Dialog } from "../../components/Dialog.tsx"
import { Empty } from "../../components/Empty.tsx"
import { summaryOf } from "../../components/ErrorSummary.tsx"
import { Facts } from "../../components/Facts.tsx"
import { Field } from "../../components/Field.tsx"
import { Notice } from "../../components/Notice.tsx"
import { Size } from "../../components/Size.tsx"
import { State } from "../../components/State.tsx"
import { Tag } from "../../components/Tag.tsx"
import { Ago, Until } from "../../components/Times.tsx"
import { Page } from "../../shell/Page.tsx"
import { type BranchShown, branchState, type EndpointShown } from "../records.ts"
import { EndpointTable } from "./EndpointTable.tsx"
import { lifetimes } from "./lifetimes.ts"
import { inSection, mayChange, type ProjectPageProps, pathOf } from "./ProjectFrame.ts"

export interface BranchPageProps extends ProjectPageProps {
  readonly branch: BranchShown
  readonly parent: BranchShown | null
  /** The branches that were copied from it. */
  readonly children: ReadonlyArray<BranchShown>
  /** Of this branch. */
  readonly endpoints: ReadonlyArray<EndpointShown>
  /** The draft of the form that is shown again. */
  readonly draft?: { readonly name: string; readonly expiry: string; readonly protected: boolean }
  readonly errors?: { readonly name?: string | undefined; readonly form?: string; readonly typed?: string }
}

export const BranchPage = (props: BranchPageProps) => {
  const { branch, endpoints, errors, frame, parent, project } = props
  const here = pathOf(props)
  const page = `${here}/branches/${branch.id}`
  const change = mayChange(frame)
  const { tone, word } = branchState(branch)
  const [first] = endpoints
  return (
    <Page
      {...inSection(props, "branches", { branch })}
      title={branch.name}
      errors={summaryOf(errors)}
      lead={
        <>
          <span id="branch-state">
            <State tone={tone}>{word}</State>
          </span>
          {branch.default ? <Tag>default</Tag> : null}
          {branch.protected ? <Tag>protected</Tag> : null}
          <CopyField id="branch-id" label="Copy the branch's ID" text={branch.id} />
        </>
      }
      live={{ src: `/api/projects/${project.id}/events`, page, regions: ["branch-state", "branch-endpoints"] }}
      actions={
        <>
          {first === undefined ? null : (
            <a class="button primary" href={`${here}?branch=${branch.id}#connect`}>
              Connect
            </a>
          )}
          {change ? (
            <a class="button" href={`${here}/branches/new?parent=${branch.id}`}>
              New branch from it
            </a>
          ) : null}
          <a class="button" href={`${page}/credentials`}>
            Credentials<span class="hidden"> of {branch.name}</span>
          </a>
        </>
      }
    >
      {branch.read_only_reason === null ? null : (
        <Notice tone="bad">
          {branch.read_only_reason === "disk_quota"
            ? "This branch only reads: the organization holds more disk than its quota. Delete a branch or a project, reset a branch, or ask the operator for a higher quota."
            : "This branch only reads."}
        </Notice>
      )}
      <Card id="facts">
        <Facts
          items={[
            [
              "Copied from",
              parent === null ? (
                <span class="faint">{branch.parent_id === null ? "nothing: it is the first" : "a deleted branch"}</span>
              ) : (
                <a href={`${here}/branches/${parent.id}`}>{parent.name}</a>
              )
            ],
            ["Created", <Ago at={branch.created_at} />],
            ["Created by", branch.created_by?.email ?? branch.created_by?.id ?? "the platform"],
            ["Expires", <Until at={branch.expires_at} none="never" />],
            [
              "Size",
              <>
                <Size bytes={branch.size_bytes} none="not measured yet" />
                {branch.size_measured_at === null ? null : (
                  <>
                    , measured <Ago at={branch.size_measured_at} />
                  </>
                )}
              </>
            ],
            ["Region", branch.region_id]
          ]}
        />
      </Card>
      <Card
        id="endpoints"
        title="Endpoints"
        more={change ? <a href={`${here}/endpoints/new?branch=${branch.id}`}>Add an endpoint</a> : undefined}
      >
        <div id="branch-endpoints" class="table">
          {first === undefined ? (
            <Empty title="No endpoint">
              <p>Nothing can connect to this branch until it has an endpoint.</p>
              {change ? (
                <a class="button" href={`${here}/endpoints/new?branch=${branch.id}`}>
                  Add an endpoint to {branch.name}
                </a>
              ) : null}
            </Empty>
          ) : (
            <EndpointTable endpoints={endpoints} branches={[branch]} here={here} mayChange={change} returnTo={page} />
          )}
        </div>
      </Card>
      {change ? <Change {...props} action={page} /> : null}
      {change ? <End {...props} action={page} /> : null}
    </Page>
  )
}

/** `keep`: the branch expires when it did before. */
const expiries = [
  { value: "keep", label: "keep current" },
  { value: "never", label: "never" },
  ...lifetimes.filter(({ value }) => value !== "").map(({ label, value }) => ({ value, label: `in ${label}` }))
]

const Change = ({ action, branch, draft, errors }: BranchPageProps & { readonly action: string }) => (
  <Card id="change" title="Name, expiry, protection">
    <form method="post" action={action} class="form">
      <Field name="name" label="Name" value={draft?.name ?? branch.name} required maxLength={63} error={errors?.name} />
      {branch.default ? null : (
        <Field name="expiry" label="Expires" choices={expiries} value={draft?.expiry ?? "keep"} />
      )}
      <Checkbox
        name="protected"
        label="Protected"
        hint="A protected branch cannot be reset or deleted."
        checked={draft?.protected ?? branch.protected}
      />
      <div class="actions">
        <button type="submit">Save</button>
      </div>
    </form>
  </Card>
)

/** Why the branch cannot be reset; `null`: it can. */
const keptFromReset = ({ branch, parent }: BranchPageProps): string | null => {
  if (branch.default) return "The default branch is not reset."
  if (branch.protected) return "A protected branch is not reset. End its protection first."
  return parent === null ? "It has no parent to take the data from." : null
}

/** Why the branch cannot be deleted; `null`: it can. */
const keptFromDeletion = ({ branch, children }: BranchPageProps): string | null => {
  if (branch.default) return "The default branch is not deleted. Make another one the default first."
  if (branch.protected) return "A protected branch is not deleted. End its protection first."
  const names = children.slice(0, 3).map(({ name }) => name)
  if (names.length === 0) return null
  return `Delete the branches that were copied from it first: ${names.join(", ")}${children.length > 3 ? " and more" : ""}.`
}

const End = (props: BranchPageProps & { readonly action: string }) => {
  const { action, branch, endpoints, parent } = props
  const noReset = keptFromReset(props)
  const noDeletion = keptFromDeletion(props)
  const programs = endpoints.length === 0 ? "" : " Its endpoints and credentials end, and programs that use them fail."
  return (
    <Card id="end" title="Default, reset, delete">
      {branch.default ? null : (
        <div class="choice">
          <p>
            <b>Make it the default</b>
            <span class="under">New branches are copied from it, and it cannot be deleted or reset any more.</span>
          </p>
          <form method="post" action={`${action}/set-default`}>
            <button type="submit">Make default</button>
          </form>
        </div>
      )}
      <div class="choice">
        <p>
          <b>Reset</b>
          <span class="under">
            {noReset ?? `Replaces its data with a new copy of ${parent?.name ?? "its parent"}.`}
          </span>
        </p>
        {noReset === null ? (
          <Dialog
            id="reset-branch"
            opener="Reset"
            openerLabel={`Reset ${branch.name}`}
            title={`Reset ${branch.name} to ${parent?.name ?? "its parent"}?`}
            action={`${action}/reset`}
            confirm="Reset the branch"
          >
            <p>
              Everything that was written to {branch.name} since it was made or reset is lost. Open sessions end. Its
              endpoints and credentials stay.
            </p>
          </Dialog>
        ) : null}
      </div>
      <div class="choice">
        <p>
          <b>Delete</b>
          <span class="under">{noDeletion ?? "Ends the branch with its data. This cannot be undone."}</span>
        </p>
        {noDeletion === null ? (
          <Dialog
            id="delete-branch"
            opener="Delete"
            openerLabel={`Delete ${branch.name}`}
            title={`Delete ${branch.name}?`}
            action={`${action}/delete`}
            confirm="Delete the branch"
            typed={branch.name}
          >
            <p>Its data is lost.{programs} This cannot be undone.</p>
          </Dialog>
        ) : null}
      </div>
    </Card>
  )
}
