/** The page of a project: connection strings, endpoints, branches, IP allowlist, activity. */
import type { ComponentChildren } from "preact"
import { Activity } from "./Activity.tsx"
import { AllowlistEditor, type AllowlistEditorProps } from "./Allowlist.tsx"
import { type Frame, Page } from "./Layout.tsx"
import { Command, Copyable, Empty, Notice, Status, Time, TimeOr } from "./parts.tsx"
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
    <Page title={project.name} frame={frame} section="projects">
      <p class="crumbs">
        <a href={`/orgs/${frame.organization.id}/projects`}>Projects</a>
      </p>
      <h1>{project.name}</h1>
      <dl class="facts">
        <Fact name="ID">
          <Copyable id="project-id" label="Copy the project's ID" text={project.id} />
        </Fact>
        <Fact name="Region">{project.region_id}</Fact>
        <Fact name="Created">
          <Time at={project.created_at} />
        </Fact>
      </dl>
      {notice === undefined ? null : <Notice>{notice}</Notice>}
      {problem === undefined ? null : <Notice tone="bad">{problem}</Notice>}
      <Connect {...props} here={here} />
      <Endpoints endpoints={endpoints} branches={branches} here={here} mayChange={mayChange} />
      <Branches branches={branches} here={here} />
      <AllowlistEditor {...allowlist} action={`${here}/ip-allow`} mayChange={mayChange} />
      <Activity
        src={`/api/projects/${project.id}/events`}
        page={here}
        operations={operations}
        empty="Nothing has happened yet."
        regions={["endpoints", "branches", "activity"]}
      />
    </Page>
  )
}

const Fact = ({ children, name }: { readonly name: string; readonly children: ComponentChildren }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
)

/** The form for a new connection string. Passwords are shown only once, so there is none to list. */
const Connect = ({ branches, endpoints, form_token, frame, here }: ProjectPageProps & { readonly here: string }) => {
  const reachable = branches.filter(({ id }) => endpoints.some(({ branch_id }) => branch_id === id))
  const mayWrite = frame.permissions.includes("mint_read_write")
  const [first] = reachable
  return (
    <section aria-labelledby="connect-title" class="card">
      <h2 id="connect-title">Connect</h2>
      {first === undefined ? (
        <p class="soft">No branch has an endpoint to connect to.</p>
      ) : (
        <>
          <p>
            Any Postgres client can connect. A suspended endpoint starts on the first connection from an allowed
            address.
          </p>
          <form method="post" action={`${here}/credentials`} class="row">
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
    </section>
  )
}

interface EndpointsProps {
  readonly endpoints: ReadonlyArray<EndpointShown>
  readonly branches: ReadonlyArray<BranchShown>
  readonly here: string
  readonly mayChange: boolean
}

const Endpoints = ({ branches, endpoints, here, mayChange }: EndpointsProps) => (
  <section aria-labelledby="endpoints-title">
    <h2 id="endpoints-title">Endpoints</h2>
    <div id="endpoints" class="scroll">
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
                    <Status tone={tone}>{word}</Status>
                  </td>
                  <td>
                    <code>{`${endpoint.host}:${endpoint.port}`}</code>
                  </td>
                  <td>
                    <TimeOr at={endpoint.last_active_at} none="never" />
                  </td>
                  <td class="end">{mayChange ? <Switch endpoint={endpoint} here={here} branch={branch} /> : null}</td>
                </tr>
              )
            })}
          </tbody>
        </table>
      )}
    </div>
  </section>
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
  <section aria-labelledby="branches-title">
    <h2 id="branches-title">Branches</h2>
    <div id="branches" class="scroll">
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
                  <Status tone={tone}>{word}</Status>
                </td>
                <td>{branches.find(({ id }) => id === branch.parent_id)?.name ?? <span class="soft">–</span>}</td>
                <td>
                  <Time at={branch.created_at} />
                </td>
                <td>
                  <TimeOr at={branch.expires_at} none="never" />
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
  </section>
)
