/**
 * The card for connecting: the connection string of a branch with a masked password, as the lines of several programs.
 * A choice is shown at once, or after *Show* without script (docs/design/console.md W28). *Create password* makes a
 * Postgres role; its answer is this card with the password, once (W15).
 */
import { Card } from "../../components/Card.tsx"
import { Variants } from "../../components/Variants.tsx"
import type { BranchShown, EndpointShown } from "../records.ts"
import { mainEndpoint } from "./branchTree.ts"
import { Connected, ConnectionFacts, type Made } from "./Connected.tsx"
import { linesOf, maskedConnection, type TabId } from "./connection.ts"
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
  /** The role that was just made; left out: none. */
  readonly made?: Made | undefined
  /** The visitor's address, and whether the project accepts it. */
  readonly address: { readonly text: string; readonly allowed: boolean } | null
}

export const Connect = (props: ConnectProps) => {
  const { branches, endpoints, here, made, mayChange, picked } = props
  const branch = branches.find(({ id }) => id === picked.branch_id)
  const endpoint = mainEndpoint(branch?.id ?? null, endpoints)
  const { access, lifetime, tab } = picked
  const back = `${here}?${new URLSearchParams({ tab, branch: picked.branch_id, access, lifetime })}#connect`
  if (made !== undefined)
    return (
      <Card id="connect" title={`Connect to ${made.branch.name}`}>
        <Connected here={here} back={back} tab={tab} {...made} />
      </Card>
    )
  return (
    <Card id="connect" title={branch === undefined ? "Connect" : `Connect to ${branch.name}`}>
      <form method="get" action={`${here}#connect`} class="stack" data-shows="connect" autocomplete="off">
        {/* The first button is what Enter presses: on a program it shows that program, and makes no password. */}
        <button type="submit" class="hidden" tabIndex={-1} aria-hidden="true">
          Show
        </button>
        <Pickers {...props} reachable={endpoint !== undefined} />
        {endpoint === undefined ? (
          <input type="hidden" name="tab" value={tab} />
        ) : (
          <Variants name="tab" label="Program" items={linesOf(maskedConnection(endpoint))} value={tab} />
        )}
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
          <ConnectionFacts connection={maskedConnection(endpoint)} />
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

type PickersProps = ConnectProps & {
  /** Whether the branch has an endpoint. */
  readonly reachable: boolean
}

/** Branch, access and lifetime, and the button that makes a password for them. */
const Pickers = ({ branches, form_token, here, mayWrite, picked, reachable }: PickersProps) => (
  <div class="pick">
    <label htmlFor="connect-branch">Branch</label>
    <select id="connect-branch" name="branch">
      {branches.map(({ id, name }) => (
        <option key={id} value={id} selected={id === picked.branch_id}>
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
    {reachable ? (
      <button
        type="submit"
        class="primary"
        formmethod="post"
        formaction={`${here}/credentials`}
        name="form_token"
        value={form_token}
      >
        Create password
      </button>
    ) : null}
    <noscript>
      <button type="submit">Show</button>
    </noscript>
  </div>
)

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
