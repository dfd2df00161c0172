/** The page of a project: connection strings, endpoints, branches, IP allowlist, activity. */
import { Card } from "../components/Card.tsx"
import { Command } from "../components/Command.tsx"
import { CopyField } from "../components/CopyField.tsx"
import { Empty } from "../components/Empty.tsx"
import { State } from "../components/State.tsx"
import { Ago, Until } from "../components/Times.tsx"
import type { Frame } from "../shell/Frame.ts"
import { Page } from "../shell/Page.tsx"
import { Activity } from "./Activity.tsx"
import { AllowlistEditor, type AllowlistEditorProps } from "./Allowlist.tsx"
import {
  type BranchShown,
  branchState,
  type EndpointShown,
  endpointState,
  type OperationShown,
  type ProjectShown,
  words
} from "./records.ts"

export interface ProjectPageProps {
  readonly frame: Frame
  readonly project: ProjectShown
  readonly branches: ReadonlyArray<BranchShown>
  readonly endpoints: ReadonlyArray<EndpointShown>
  readonly operations: ReadonlyArray<OperationShown>
  readonly allowlist: Pick<AllowlistEditorProps, "allowlist" | "draft" | "errors">
  readonly form_token: string
  readonly notice?: string | undefined
  readonly problem?: string | undefined
}

export const ProjectPage = (props: ProjectPageProps) => {
  const { allowlist, branches, endpoints, frame, notice, operations, problem, project } = props
  const here = `/orgs/${frame.organization.id}/projects/${project.id}`
  const mayChange = frame.permissions.includes("change_projects")
  return (
    <Page
      title={project.name}
      frame={frame}
      section="projects"
      project={{ id: project.id, name: project.name, section: "overview" }}
      lead={
        <>
          <span>{project.region_id}</span>
          <span>
            Created <Ago at={project.created_at} />
          </span>
          <CopyField id="project-id" label="Copy the project's ID" text={project.id} />
        </>
      }
      notice={notice}
      problem={problem}
    >
      <Connect {...props} here={here} />
      <Endpoints endpoints={endpoints} branches={branches} here={here} mayChange={mayChange} />
      <Branches branches={branches} here={here} />
      <AllowlistEditor {...allowlist} action={`${here}/ip-allow`} mayChange={mayChange} />
      <Activity
        src={`/api/projects/${project.id}/events`}
        page={here}
        operations={operations}
        empty="Nothing has happened yet."
        regions={["endpoints", "branches"]}
      />
    </Page>
  )
}

/** The form for a new connection string. Passwords are shown only once, so there is none to list. */
const Connect = ({ branches, endpoints, form_token, frame, here }: ProjectPageProps & { readonly here: string }) => {
  const reachable = branches.filter(({ id }) => endpoints.some(({ branch_id }) => branch_id === id))
  const mayWrite = frame.permissions.includes("mint_read_write")
  const [first] = reachable
  return (
    <Card id="connect" title="Connect">
      {first === undefined ? (
        <p class="soft">No branch has an endpoint to connect to.</p>
      ) : (
        <>
          <p>
            Any Postgres client can connect. A suspended endpoint starts on the first connection from an allowed
            address.
          </p>
          <form method="post" action={`${here}/credentials`} class="pick">
            <input type="hidden" name="form_token" value={form_token} />
            <label>
              Branch
              <select name="branch_id">
                {reachable.map(({ default: chosen, id, name }) => (
                  <option key={id} value={id} selected={chosen}>
                    {name}
                  </option>
                ))}
              </select>
            </label>
            <label>
              Access
              <select name="access">
                {mayWrite ? <option value="read_write">read and write</option> : null}
                <option value="read_only">read only</option>
              </select>
            </label>
            <button type="submit">Create a connection string</button>
          </form>
        </>
      )}
    </Card>
  )
}

interface EndpointsProps {
  readonly endpoints: ReadonlyArray<EndpointShown>
  readonly branches: ReadonlyArray<BranchShown>
  readonly here: string
  readonly mayChange: boolean
}

const Endpoints = ({ branches, endpoints, here, mayChange }: EndpointsProps) => (
  <Card id="endpoints-card" title="Endpoints">
    <div id="endpoints" class="table">
      {endpoints.length === 0 ? (
        <Empty title="No endpoints">
          <p>
            Create one: <Command>narthex api POST /v1/projects/…/endpoints</Command>
          </p>
        </Empty>
      ) : (
        <table>
          <caption class="hidden">Endpoints of the project</caption>
          <thead>
            <tr>
              <th scope="col">Branch</th>
              <th scope="col">Access</th>
              <th scope="col">State</th>
              <th scope="col">Host</th>
              <th scope="col">Last active</th>
              <th scope="col">
                <span class="hidden">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {endpoints.map((endpoint) => {
              const { tone, word } = endpointState(endpoint)
              const branch = branches.find(({ id }) => id === endpoint.branch_id)?.name ?? endpoint.branch_id
              return (
                <tr key={endpoint.id}>
                  <th scope="row">{branch}</th>
                  <td>{words(endpoint.type)}</td>
                  <td>
                    <State tone={tone}>{word}</State>
                  </td>
                  <td>
                    <code>{`${endpoint.host}:${endpoint.port}`}</code>
                  </td>
                  <td>
                    <Until at={endpoint.last_active_at} none="never" />
                  </td>
                  <td class="end">{mayChange ? <Switch endpoint={endpoint} here={here} branch={branch} /> : null}</td>
                </tr>
              )
            })}
          </tbody>
        </table>
      )}
    </div>
  </Card>
)

const Switch = (props: { readonly endpoint: EndpointShown; readonly branch: string; readonly here: string }) => {
  const { branch, endpoint, here } = props
  const runs = endpoint.current_state === "active" && endpoint.pending_state !== "idle"
  const verb = runs ? "suspend" : "start"
  const label = runs ? "Suspend" : "Start"
  return (
    <form method="post" action={`${here}/endpoints/${endpoint.id}/${verb}`}>
      <button
        type="submit"
        class="quiet"
        id={`${endpoint.id}-${verb}`}
        aria-label={`${label} the endpoint of ${branch}`}
      >
        {label}
      </button>
    </form>
  )
}

interface BranchesProps {
  readonly branches: ReadonlyArray<BranchShown>
  readonly here: string
}

const Branches = ({ branches, here }: BranchesProps) => (
  <Card id="branches-card" title="Branches">
    <div id="branches" class="table">
      <table>
        <caption class="hidden">Branches of the project</caption>
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">State</th>
            <th scope="col">Parent</th>
            <th scope="col">Created</th>
            <th scope="col">Expires</th>
            <th scope="col">Access</th>
          </tr>
        </thead>
        <tbody>
          {branches.map((branch) => {
            const { tone, word } = branchState(branch)
            return (
              <tr key={branch.id}>
                <th scope="row">
                  {branch.name} {branch.default ? <span class="tag">default</span> : null}{" "}
                  {branch.protected ? <span class="tag">protected</span> : null}
                </th>
                <td>
                  <State tone={tone}>{word}</State>
                </td>
                <td>{branches.find(({ id }) => id === branch.parent_id)?.name ?? <span class="soft">–</span>}</td>
                <td>
                  <Ago at={branch.created_at} />
                </td>
                <td>
                  <Until at={branch.expires_at} none="never" />
                </td>
                <td>
                  <a href={`${here}/branches/${branch.id}/credentials`} aria-label={`Credentials of ${branch.name}`}>
                    Credentials
                  </a>
                </td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </div>
  </Card>
)
