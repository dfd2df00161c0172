/** The last clients that the allowlist refused, as the proxies report them, and the way to allow one. */
import { Card } from "../../components/Card.tsx"
import { Empty } from "../../components/Empty.tsx"
import { Pager } from "../../components/Pager.tsx"
import { Table } from "../../components/Table.tsx"
import { Ago } from "../../components/Times.tsx"
import { shortId } from "../eventWords.ts"
import type { RefusalShown } from "../records.ts"
import { admitting, type Part } from "./AllowlistRules.tsx"
import { mayChange, pathOf } from "./ProjectFrame.ts"

export const RefusedClients = (props: Part) => {
  const { here, refusals } = props
  if (refusals === null) return null
  const { items, next_cursor } = refusals
  return (
    <Card id="refusals" title="Last refused clients">
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
    </Card>
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
