/** The rules of an allowlist, with what each asks before it is removed. */
import { type Cidr, contains } from "@narthex/api"
import { Option } from "effect"
import { Dialog } from "../../components/Dialog.tsx"
import { Menu } from "../../components/Menu.tsx"
import { Table } from "../../components/Table.tsx"
import { Ago } from "../../components/Times.tsx"
import type { AllowlistShown, RefusalShown, RuleShown } from "../records.ts"
import { mayChange, type ProjectPageProps } from "./ProjectFrame.ts"

export interface AllowlistDraft {
  readonly cidr: string
  readonly label: string
  readonly hours: string
}

/** The answer of the API about an address. */
export interface Checked {
  readonly address: string
  /** `null`: it was not checked, because `error` says what is wrong with it. */
  readonly allowed: boolean | null
  /** The network that admits it. */
  readonly matched: string | null
  readonly error?: string
}

export interface AllowlistPageProps extends ProjectPageProps {
  readonly allowlist: AllowlistShown
  readonly draft: AllowlistDraft
  /** The draft is the address of a refused client, for the person to complete. */
  readonly prefilled?: boolean
  /** The network that is edited; `null`: a rule is added. */
  readonly edited: string | null
  readonly errors?: {
    readonly cidr?: string | undefined
    readonly label?: string | undefined
    readonly hours?: string | undefined
  }
  /** The visitor's address; `null`: it is not known. */
  readonly own: string | null
  readonly checked: Checked | null
  /** A page of the refused clients; `null`: they are not known. */
  readonly refusals: { readonly items: ReadonlyArray<RefusalShown>; readonly next_cursor: string | null } | null
  /** The endpoints that exist; `null`: not all of them are known. */
  readonly endpoints: ReadonlySet<string> | null
  /** The rule waits for an answer: it would refuse the person who adds it. */
  readonly locksOut?: boolean
}

export const opens = "The project will accept connections from any address."

/** The sentence about a family of addresses that is refused, while every address of the other family may connect. */
export const refusedFamily = ({ refused_family }: AllowlistShown): string | null => {
  if (refused_family === "ipv6") return "The rules list every IPv4 address and no IPv6 address: IPv6 is refused."
  if (refused_family === "ipv4") return "The rules list every IPv6 address and no IPv4 address: IPv4 is refused."
  return null
}

/** The rules that admit the address. */
export const admitting = (rules: ReadonlyArray<{ readonly cidr: Cidr }>, address: string | null) =>
  address === null ? [] : rules.filter(({ cidr }) => contains(cidr, address))

/** A part of the page, and the page's address. */
export type Part = AllowlistPageProps & { readonly here: string }

export const Rules = (props: Part) => {
  const { allowlist, frame, here } = props
  const { rules } = allowlist
  return (
    <>
      <Table
        label="Networks that may connect"
        columns={[
          { head: "Network" },
          { head: "Label" },
          { head: "Added" },
          { head: "Expires" },
          { head: "Actions", quiet: true, align: "end", phone: "aside" }
        ]}
        rows={rules.map((rule, index) => ({
          key: rule.cidr,
          cells: [
            <code>{rule.cidr}</code>,
            rule.label,
            <>
              <Ago at={rule.created_at} />
              <span class="under">{rule.created_by.email ?? rule.created_by.id}</span>
            </>,
            Option.match(rule.expires_at, {
              onNone: () => <span class="faint">never</span>,
              onSome: (at) => <Ago at={at} />
            }),
            mayChange(frame) ? (
              <Menu
                id={rule.cidr}
                label={`Actions of ${rule.cidr}`}
                items={[
                  { label: "Edit", href: `${here}?edit=${encodeURIComponent(rule.cidr)}#rule` },
                  asks(rule, props)
                    ? { label: "Remove", opens: `remove-rule-${index}`, tone: "danger" }
                    : {
                        label: "Remove",
                        form: { action: `${here}/remove`, fields: { cidr: rule.cidr } },
                        tone: "danger"
                      }
                ]}
              />
            ) : null
          ]
        }))}
      />
      {mayChange(frame)
        ? rules.map((rule, index) =>
            asks(rule, props) ? <Remove key={rule.cidr} {...props} rule={rule} id={`remove-rule-${index}`} /> : null
          )
        : null}
    </>
  )
}

/** Whether the removal opens the project, or refuses the visitor. */
const asks = (rule: RuleShown, { allowlist: { rules }, own }: AllowlistPageProps): boolean => {
  if (rules.length === 1) return true
  const admit = admitting(rules, own)
  return admit.length === 1 && admit[0]?.cidr === rule.cidr
}

const Remove = ({ allowlist, here, id, own, rule }: Part & { readonly rule: RuleShown; readonly id: string }) => {
  const last = allowlist.rules.length === 1
  return (
    <Dialog
      id={id}
      title={`Remove ${rule.cidr}?`}
      action={`${here}/remove`}
      confirm={last ? "Remove the last rule" : "Remove the rule"}
      fields={{ cidr: rule.cidr }}
    >
      {last ? (
        <p>This is the last rule. {opens}</p>
      ) : (
        <p>
          No other rule contains your address <code>{own}</code>. Your own connections end, and new ones are refused.
        </p>
      )}
    </Dialog>
  )
}
