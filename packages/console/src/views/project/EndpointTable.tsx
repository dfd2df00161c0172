/** Endpoints with their state and what one does with them most. */
import { CopyField } from "../../components/CopyField.tsx"
import { HiddenFields } from "../../components/HiddenFields.tsx"
import { Menu } from "../../components/Menu.tsx"
import { State } from "../../components/State.tsx"
import { Table } from "../../components/Table.tsx"
import { Until } from "../../components/Times.tsx"
import { type BranchShown, type EndpointShown, endpointState } from "../records.ts"
import { maskedConnection } from "./connection.ts"
import { suspendTimeoutLabel } from "./lifetimes.ts"

export interface EndpointTableProps {
  readonly endpoints: ReadonlyArray<EndpointShown>
  readonly branches: ReadonlyArray<BranchShown>
  readonly here: string
  readonly mayChange: boolean
  /** The page to return to after an action. */
  readonly returnTo: string
}

/** `read_only` as words. */
export const typeWords = (type: string): string =>
  type === "read_write" ? "read and write" : type.replaceAll("_", " ")

/** Whether its compute runs, and is not about to stop. */
const runs = ({ current_state, pending_state }: EndpointShown): boolean =>
  current_state === "active" && pending_state !== "idle"

export const EndpointTable = (props: EndpointTableProps) => {
  const { branches, endpoints, here, mayChange, returnTo } = props
  return (
    <Table
      label="Endpoints"
      columns={[
        { head: "Endpoint" },
        { head: "State", phone: "aside" },
        { head: "Host" },
        { head: "Suspends after" },
        { head: "Last active" },
        { head: "Actions", quiet: true, align: "end" }
      ]}
      rows={endpoints.map((endpoint) => {
        const { tone, word } = endpointState(endpoint)
        const branch = branches.find(({ id }) => id === endpoint.branch_id)?.name ?? endpoint.branch_id
        const alike = endpoints.filter((it) => it.branch_id === endpoint.branch_id && it.type === endpoint.type)
        const which = alike.length === 1 ? "" : ` ${endpoint.id}`
        const name = `the ${typeWords(endpoint.type)} endpoint${which} of ${branch}`
        const page = `${here}/endpoints/${endpoint.id}`
        return {
          key: endpoint.id,
          cells: [
            <>
              <a href={page}>{branch}</a>
              <span class="under">{typeWords(endpoint.type)}</span>
            </>,
            <State tone={tone}>{word}</State>,
            <CopyField
              id={`host-${endpoint.id}`}
              label={`Copy the host of ${name}`}
              text={maskedConnection(endpoint).host}
            />,
            suspendTimeoutLabel(endpoint.suspend_timeout_seconds),
            <Until at={endpoint.last_active_at} none="never" />,
            mayChange ? (
              <span class="row">
                {endpoint.disabled ? null : <Switch endpoint={endpoint} page={page} name={name} returnTo={returnTo} />}
                <Menu
                  id={endpoint.id}
                  label={`Actions of ${name}`}
                  items={[
                    { label: "Change the time-out", href: `${page}#change` },
                    {
                      label: endpoint.disabled ? "Enable" : "Disable",
                      tone: endpoint.disabled ? "plain" : "danger",
                      form: {
                        action: `${page}/${endpoint.disabled ? "enable" : "disable"}`,
                        fields: { return_to: returnTo }
                      }
                    },
                    { label: "Delete", href: `${page}#end`, tone: "danger" }
                  ]}
                />
              </span>
            ) : null
          ]
        }
      })}
    />
  )
}

interface SwitchProps {
  readonly endpoint: EndpointShown
  readonly page: string
  readonly name: string
  readonly returnTo: string
}

export const Switch = ({ endpoint, name, page, returnTo }: SwitchProps) => {
  const [verb, label] = runs(endpoint) ? ["suspend", "Suspend"] : ["start", "Start"]
  return (
    <form method="post" action={`${page}/${verb}`}>
      <HiddenFields fields={{ return_to: returnTo }} />
      <button type="submit" id={`${endpoint.id}-${verb}`} aria-label={`${label} ${name}`}>
        {label}
      </button>
    </form>
  )
}
