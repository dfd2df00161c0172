/** Why an address is refused, and the last clients that were, as the proxies report them, with the way to allow one. */
import { Card } from "../../components/Card.tsx"
import { Empty } from "../../components/Empty.tsx"
import { Described, describedBy } from "../../components/Labelled.tsx"
import { Notice } from "../../components/Notice.tsx"
import { Pager } from "../../components/Pager.tsx"
import { Table } from "../../components/Table.tsx"
import { Ago } from "../../components/Times.tsx"
import { shortId } from "../eventWords.ts"
import type { RefusalShown } from "../records.ts"
import { admitting, type Checked, type Part } from "./AllowlistRules.tsx"
import { mayChange, pathOf } from "./ProjectFrame.ts"

export const RefusedClients = (props: Part) => (
  <Card id="refusals" title="Refused clients">
    <Check {...props} />
    {props.refusals === null ? null : <Refusals {...props} refusals={props.refusals} />}
  </Card>
)

/** The question about one address. Its answer leaves the drafts of other forms alone. */
const Check = ({ checked, here }: Part) => (
  <div id="check" class="stack">
    <form method="get" action={here} class="field" aria-label="Check an address" data-shows="check">
      <label htmlFor="address">Why was I refused?</label>
      <div class="row">
        <input
          type="text"
          id="address"
          name="address"
          autocomplete="off"
          spellcheck={false}
          value={checked?.address ?? ""}
          placeholder="203.0.113.9"
          autofocus={checked?.error !== undefined}
          {...describedBy("address", checkHint, checked?.error)}
        />
        <button type="submit">Check</button>
      </div>
      <Described id="address" hint={checkHint} error={checked?.error} />
    </form>
    {checked === null || checked.allowed === null ? null : <Verdict {...checked} />}
  </div>
)

const checkHint = "The address of the program that connects, as the internet sees it."

const Verdict = ({ address, allowed, matched }: Checked) => {
  if (!allowed)
    return (
      <Notice tone="bad" focused>
        <code>{address}</code> is refused: no network on the list contains it. The program gets <code>28000</code>. Add
        its network to let it connect.
      </Notice>
    )
  return (
    <Notice focused>
      <code>{address}</code> may connect:{" "}
      {matched === null ? (
        "the list is empty, so any address may."
      ) : (
        <>
          <code>{matched}</code> contains it.
        </>
      )}{" "}
      If it is refused all the same, the reason is in the error's code: <code>28P01</code> is the password,{" "}
      <code>08004</code> the host or a disabled endpoint, <code>53300</code> a limit.
    </Notice>
  )
}

const Refusals = (props: Part & { readonly refusals: NonNullable<Part["refusals"]> }) => {
  const {
    here,
    refusals: { items, next_cursor }
  } = props
  return (
    <>
      <Table
        label="Clients that were refused"
        columns={[
          { head: "Address" },
          { head: "Endpoint" },
          { head: "Times", align: "end" },
          { head: "Last refused" },
          { head: "Actions", quiet: true, align: "end", phone: "aside" }
        ]}
        rows={items.map((refusal) => ({
          key: `${refusal.endpoint_id} ${refusal.address}`,
          cells: [
            <code>{refusal.address}</code>,
            <Where {...props} refusal={refusal} />,
            `${refusal.count}`,
            <Ago at={refusal.last_at} />,
            <Outcome {...props} refusal={refusal} />
          ]
        }))}
        empty={
          <Empty title="No client was refused">
            <p>Refused connections of the last 7 days appear here, some seconds after the attempt.</p>
          </Empty>
        }
      />
      <Pager next={next_cursor === null ? null : `${here}?refused=${encodeURIComponent(next_cursor)}#refusals`} />
    </>
  )
}

type One = Part & { readonly refusal: RefusalShown }

/** The endpoint, with a link while it exists, and the credential that the client named. */
const Where = ({ endpoints, refusal: { endpoint_id, role }, ...props }: One) => (
  <>
    {endpoints === null || endpoints.has(endpoint_id) ? (
      <a href={`${pathOf(props)}/endpoints/${endpoint_id}`} title={endpoint_id}>
        <code>{shortId(endpoint_id)}</code>
      </a>
    ) : (
      <>
        <code title={endpoint_id}>{shortId(endpoint_id)}</code> <span class="faint">deleted</span>
      </>
    )}
    {role === null ? null : (
      <span class="under">
        as <code>{role}</code>
      </span>
    )}
  </>
)

/** Why, where a rule would not help; that a rule holds the address by now; or the way to add one. */
const Outcome = ({ allowlist: { restricted, rules }, frame, here, refusal: { address, reason } }: One) => {
  if (reason !== "address_not_listed") return <span class="faint">the rules could not be checked</span>
  if (!restricted || admitting(rules, address).length > 0) return <span class="faint">may connect now</span>
  if (!mayChange(frame)) return null
  return (
    <a class="button" href={`${here}?allow=${encodeURIComponent(address)}#rule`}>
      Allow<span class="hidden"> {address}</span>
    </a>
  )
}
