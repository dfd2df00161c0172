/**
 * The card for connecting: the connection string of a branch with a masked password, as the lines of several programs.
 * A choice is shown at once, or after *Show* without script (docs/design/console.md W28). *Create password* makes a
 * Postgres role; its answer shows the password once (W15).
 */
import { Card } from "../../components/Card.tsx"
import { CopyField } from "../../components/CopyField.tsx"
import { Facts } from "../../components/Facts.tsx"
import { Tabs } from "../../components/Tabs.tsx"
import type { BranchShown, EndpointShown } from "../records.ts"
import { mainEndpoint } from "./branchTree.ts"
import { type Connection, maskedConnection, type TabId, tabNamed, tabs } from "./connection.ts"
import { lifetimes } from "./lifetimes.ts"

/** The values of the pickers of the card. */
export interface Picked {
  readonly tab: TabId
  readonly branch_id: string
  readonly access: string
  readonly lifetime: string
}

export interface ConnectProps {
  readonly here: string
  readonly branches: ReadonlyArray<BranchShown>
  readonly endpoints: ReadonlyArray<EndpointShown>
  readonly picked: Picked
  readonly mayChange: boolean
  readonly mayWrite: boolean
  readonly form_token: string
  /** The visitor's address, and whether the project accepts it. */
  readonly address: { readonly text: string; readonly allowed: boolean } | null
}

export const Connect = (props: ConnectProps) => {
  const { branches, endpoints, here, mayChange, mayWrite, picked } = props
  const branch = branches.find(({ id }) => id === picked.branch_id)
  const endpoint = mainEndpoint(branch?.id ?? null, endpoints)
  const tab = tabNamed(picked.tab)
  const query = (id: string) =>
    `${here}?${new URLSearchParams({ tab: id, branch: picked.branch_id, access: picked.access, lifetime: picked.lifetime })}#connect`
  return (
    <Card
      id="connect"
      title={branch === undefined ? "Connect" : `Connect to ${branch.name}`}
      more={
        endpoint === undefined ? undefined : (
          <Tabs
            label="Programs"
            items={tabs.map(({ id, label }) => ({ label, href: query(id), current: id === tab.id }))}
          />
        )
      }
    >
      <form method="get" action={`${here}#connect`} class="pick" data-shows="connect" autocomplete="off">
        <input type="hidden" name="tab" value={tab.id} />
        <label htmlFor="connect-branch">Branch</label>
        <select id="connect-branch" name="branch">
          {branches.map(({ id, name }) => (
            <option key={id} value={id} selected={id === branch?.id}>
              {name}
            </option>
          ))}
        </select>
        <label htmlFor="connect-access">as</label>
        <select id="connect-access" name="access">
          {mayWrite ? (
            <option value="read_write" selected={picked.access === "read_write"}>
              read and write
            </option>
          ) : null}
          <option value="read_only" selected={picked.access === "read_only"}>
            read only
          </option>
        </select>
        <label htmlFor="connect-lifetime">expires</label>
        <select id="connect-lifetime" name="lifetime">
          {lifetimes.map(({ label, value }) => (
            <option key={value} value={value} selected={value === picked.lifetime}>
              {value === "" ? label : `in ${label}`}
            </option>
          ))}
        </select>
        {endpoint === undefined ? null : (
          <button
            type="submit"
            class="primary"
            formmethod="post"
            formaction={`${here}/credentials`}
            name="form_token"
            value={props.form_token}
          >
            Create password
          </button>
        )}
        <noscript>
          <button type="submit">Show</button>
        </noscript>
      </form>
      {branch === undefined ? (
        <p class="soft">The project has no branch to connect to.</p>
      ) : endpoint === undefined ? (
        <p class="soft">
          <b>{branch.name}</b> has no endpoint, so nothing can connect to it.{" "}
          {mayChange ? <a href={`${here}/endpoints/new?branch=${branch.id}`}>Add an endpoint</a> : null}
        </p>
      ) : (
        <>
          <Known connection={maskedConnection(endpoint)} lines={tab.lines} />
          <p class="note">
            <code>role</code> and its password are made when you press <i>Create password</i>, and shown once.{" "}
            {endpoint.current_state === "idle" ? "The endpoint is suspended: the first connection starts it. " : null}
            {props.address === null ? null : <Address {...props.address} here={here} />}
          </p>
        </>
      )}
    </Card>
  )
}

const Known = (props: { readonly connection: Connection; readonly lines: (connection: Connection) => string }) => {
  const { database, host, parameters, port } = props.connection
  return (
    <>
      <pre class="code">{props.lines(props.connection)}</pre>
      <Facts
        items={[
          ["Host", <CopyField id="connect-host" label="Copy the host" text={host} />],
          ["Port", <code>{port}</code>],
          ["Database", <code>{database}</code>],
          ...parameters.map(([name, value]) => [name, <code>{value}</code>] as const)
        ]}
      />
    </>
  )
}

const Address = (props: { readonly text: string; readonly allowed: boolean; readonly here: string }) =>
  props.allowed ? (
    <>
      Your address <code>{props.text}</code> may connect.
    </>
  ) : (
    <>
      <span class="bad">
        Your address <code>{props.text}</code> is not on the allowlist
      </span>
      , so your connections are refused. <a href={`${props.here}/ip-allow`}>Edit the allowlist</a>
    </>
  )
