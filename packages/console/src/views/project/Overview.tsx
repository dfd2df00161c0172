/** The overview of a project: its state, connection string, last operations, allowlist and branches. */
import { Option } from "effect"
import { Card } from "../../components/Card.tsx"
import { CopyField } from "../../components/CopyField.tsx"
import { Icon } from "../../components/Icon.tsx"
import { Notice } from "../../components/Notice.tsx"
import { State } from "../../components/State.tsx"
import { Ago, Time } from "../../components/Times.tsx"
import { Page } from "../../shell/Page.tsx"
import { Feed } from "../Feed.tsx"
import {
  type AllowlistShown,
  type BranchShown,
  type EndpointShown,
  endpointState,
  type OperationShown
} from "../records.ts"
import { refusedFamily } from "./AllowlistRules.tsx"
import { BranchTable } from "./BranchTable.tsx"
import { mainEndpoint } from "./branchTree.ts"
import { Connect, type Picked } from "./Connect.tsx"
import type { Made } from "./Connected.tsx"
import { shownBefore } from "./Password.tsx"
import { inSection, mayChange, type ProjectPageProps, pathOf } from "./ProjectFrame.ts"
import { feedItem, namesIn } from "./Said.tsx"

export interface OverviewPageProps extends ProjectPageProps {
  readonly branches: ReadonlyArray<BranchShown>
  readonly endpoints: ReadonlyArray<EndpointShown>
  readonly operations: ReadonlyArray<OperationShown>
  /** The names of the people who began them, by their ids. */
  readonly people: ReadonlyMap<string, string>
  readonly allowlist: AllowlistShown
  /** Clients that the allowlist refused in the last hour: `more` when they may be more than `count`. */
  readonly refused: { readonly count: number; readonly more: boolean } | undefined
  readonly picked: Picked
  /** The visitor's address, and whether the project accepts it; `null`: the address is not known. */
  readonly address: { readonly text: string; readonly allowed: boolean } | null
  readonly form_token: string
  /** The role that was just made; `null`: its password was shown before. */
  readonly made?: Made | null
}

/** The number of branches in the card, which links to all of them. */
const shownBranches = 8

export const OverviewPage = (props: OverviewPageProps) => {
  const { allowlist, branches, endpoints, frame, operations, people, project } = props
  const here = pathOf(props)
  const names = namesIn(project, branches, people)
  const change = mayChange(frame)
  const endpoint = mainEndpoint(project.default_branch_id, endpoints)
  const state = endpoint === undefined ? { word: "no endpoint", tone: "idle" as const } : endpointState(endpoint)
  return (
    <Page
      {...inSection(props, "overview")}
      title={project.name}
      lead={
        <>
          <span id="project-state">
            <State tone={state.tone}>{state.word === "suspended" ? "suspended, wakes on connect" : state.word}</State>
          </span>
          <span>{project.region_id}</span>
          <span>
            Created <Ago at={project.created_at} />
          </span>
          <CopyField id="project-id" label="Copy the project's ID" text={project.id} />
        </>
      }
      live={{
        src: `/api/projects/${project.id}/events`,
        page: here,
        regions: ["project-state", "branches-table", "activity"]
      }}
      actions={
        change ? (
          <>
            <a class="button" href={`${here}/branches/new`}>
              New branch
            </a>
            {endpoint === undefined ? null : <Switch endpoint={endpoint} here={here} />}
          </>
        ) : null
      }
    >
      {props.made === null ? (
        <Notice tone="busy" focused>
          {shownBefore}
        </Notice>
      ) : null}
      <Connect
        here={here}
        branches={branches}
        endpoints={endpoints}
        picked={props.picked}
        mayChange={change}
        mayWrite={frame.permissions.includes("mint_read_write")}
        form_token={props.form_token}
        address={props.address}
        made={props.made ?? undefined}
      />
      <div class="columns aside">
        <Card id="branches" title="Branches" more={<a href={`${here}/branches`}>All branches</a>}>
          <BranchTable
            branches={branches}
            endpoints={endpoints}
            here={here}
            mayChange={change}
            actions={false}
            limit={shownBranches}
          />
        </Card>
        <div class="stack">
          <Card id="who" title="Who may connect" more={<a href={`${here}/ip-allow`}>{change ? "Edit" : "Show"}</a>}>
            <WhoMayConnect allowlist={allowlist} address={props.address} here={here} refused={props.refused} />
          </Card>
          <Card id="activity-card" title="Activity" more={<a href={`${here}/operations`}>All operations</a>}>
            <div id="activity">
              {operations.length === 0 ? (
                <p class="soft">Nothing has happened yet.</p>
              ) : (
                <Feed id="feed" items={operations.map((operation) => feedItem(operation, names))} />
              )}
            </div>
          </Card>
        </div>
      </div>
    </Page>
  )
}

/** Starts or suspends the compute of the default branch. */
const Switch = ({ endpoint, here }: { readonly endpoint: EndpointShown; readonly here: string }) => {
  const runs = endpoint.current_state === "active" && endpoint.pending_state !== "idle"
  return (
    <form method="post" action={`${here}/endpoints/${endpoint.id}/${runs ? "suspend" : "start"}`}>
      <input type="hidden" name="return_to" value={here} />
      <button type="submit">{runs ? "Suspend" : "Start"}</button>
    </form>
  )
}

const networks = (count: number) => (count === 1 ? "1 network" : `${count} networks`)

const clients = (count: number, more: boolean) =>
  count === 1 ? "1 client was" : `${count}${more ? " or more" : ""} clients were`

type WhoProps = Pick<OverviewPageProps, "address" | "allowlist" | "refused"> & { readonly here: string }

const WhoMayConnect = ({ address, allowlist, here, refused }: WhoProps) => {
  const { opens_at, restricted, rules } = allowlist
  if (!restricted)
    return (
      <>
        <p class="line">
          <Icon name="globe" /> Any address
        </p>
        <p class="note">The allowlist is empty, so only the password protects the data.</p>
      </>
    )
  const family = refusedFamily(allowlist)
  const own = address === null ? "" : address.allowed ? ", yours among them" : ", yours is not among them"
  return (
    <>
      <p class={`line ${address?.allowed === false ? "bad" : "good"}`}>
        <Icon name={address?.allowed === false ? "warning" : "shield"} /> {networks(rules.length)}
        {own}
      </p>
      {Option.isSome(opens_at) ? (
        <p class="note">
          Every rule expires: from <Time at={opens_at.value} /> on, any address may connect.
        </p>
      ) : null}
      {family === null ? null : <p class="note">{family}</p>}
      {refused === undefined || refused.count === 0 ? null : (
        <p class="note">
          <a href={`${here}/ip-allow#refusals`}>{clients(refused.count, refused.more)} refused in the last hour</a>
        </p>
      )}
    </>
  )
}
