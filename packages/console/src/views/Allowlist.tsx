/**
 * The editor of a project's IP allowlist.
 *
 * A project with an empty list accepts every address. Removing the last rule, or its expiry, therefore opens the
 * project, and the page warns before either (docs/design/console.md W14).
 */
import { Option } from "effect"
import { Command } from "../components/Command.tsx"
import { Dialog } from "../components/Dialog.tsx"
import { Empty } from "../components/Empty.tsx"
import { Field } from "../components/Field.tsx"
import { Notice } from "../components/Notice.tsx"
import { Ago, Time } from "../components/Times.tsx"
import type { AllowlistShown, RuleShown } from "./records.ts"

export interface AllowlistDraft {
  readonly cidr: string
  readonly label: string
  readonly hours: string
}

export interface AllowlistEditorProps {
  readonly allowlist: AllowlistShown
  readonly draft: AllowlistDraft
  readonly errors?: {
    readonly cidr?: string | undefined
    readonly label?: string | undefined
    readonly hours?: string | undefined
  }
  readonly action: string
  readonly mayChange: boolean
}

const opens = "The project will accept connections from any address."

export const AllowlistEditor = ({ action, allowlist, draft, errors = {}, mayChange }: AllowlistEditorProps) => {
  const { opens_at, restricted, rules } = allowlist
  return (
    <section class="card" aria-labelledby="allowlist-title" id="ip-allow">
      <header>
        <h2 id="allowlist-title">IP allowlist</h2>
        <div class="more">
          {mayChange && rules.length > 0 ? (
            <Dialog
              id="reset-allowlist"
              opener="Reset"
              openerLabel="Reset the allowlist"
              title="Remove every rule?"
              action={`${action}/reset`}
              confirm="Remove every rule"
            >
              <p>{opens}</p>
            </Dialog>
          ) : null}
        </div>
      </header>
      <div class="inside">
        <p class="soft">Changes reach the proxy within about 30 seconds.</p>
        {Option.isSome(opens_at) ? (
          <Notice tone="busy">
            Every rule expires. From <Time at={opens_at.value} /> on, the project accepts connections from any address.
          </Notice>
        ) : null}
        {restricted ? (
          <Rules rules={rules} action={action} mayChange={mayChange} />
        ) : (
          <Empty title="Open to any address">
            <p>Once you add a rule, only the listed networks can connect to the project's endpoints.</p>
            <p>
              From the terminal: <Command>{"narthex ip-allow add <cidr> --project <project_id>"}</Command>
            </p>
          </Empty>
        )}
        {mayChange ? (
          <form method="post" action={action} class="form inline" aria-label="Add a rule">
            <Field
              name="cidr"
              label="Network"
              value={draft.cidr}
              placeholder="203.0.113.0/24"
              hint="A CIDR network or one address."
              error={errors.cidr}
            />
            <Field name="label" label="Label" value={draft.label} maxLength={256} error={errors.label} />
            <Field
              name="hours"
              label="Expires in (hours)"
              value={draft.hours}
              inputMode="numeric"
              hint="Blank: never."
              error={errors.hours}
            />
            <p class="actions">
              <button type="submit" class="primary">
                Add rule
              </button>
              <button type="submit" name="use" value="client-address">
                Add my address
              </button>
            </p>
          </form>
        ) : null}
      </div>
    </section>
  )
}

interface RulesProps {
  readonly rules: ReadonlyArray<RuleShown>
  readonly action: string
  readonly mayChange: boolean
}

const Rules = ({ action, mayChange, rules }: RulesProps) => (
  <div class="table">
    <table>
      <caption class="hidden">Networks that may connect</caption>
      <thead>
        <tr>
          <th scope="col">Network</th>
          <th scope="col">Label</th>
          <th scope="col">Added</th>
          <th scope="col">By</th>
          <th scope="col">Expires</th>
          <th scope="col">
            <span class="hidden">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {rules.map((rule, index) => (
          <tr key={rule.cidr}>
            <th scope="row">
              <code>{rule.cidr}</code>
            </th>
            <td>{rule.label}</td>
            <td>
              <Ago at={rule.created_at} />
            </td>
            <td>{rule.created_by.email ?? rule.created_by.id}</td>
            <td>
              {Option.match(rule.expires_at, {
                onNone: () => <span class="soft">never</span>,
                onSome: (at) => <Time at={at} />
              })}
            </td>
            <td class="end">
              {mayChange ? (
                <Remove rule={rule} action={`${action}/remove`} last={rules.length === 1} index={index} />
              ) : null}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)

interface RemoveProps {
  readonly rule: RuleShown
  readonly action: string
  readonly last: boolean
  readonly index: number
}

const Remove = ({ action, index, last, rule }: RemoveProps) =>
  last ? (
    <Dialog
      id={`remove-rule-${index}`}
      opener="Remove"
      openerLabel={`Remove ${rule.cidr}`}
      title={`Remove ${rule.cidr}?`}
      action={action}
      confirm="Remove the last rule"
      fields={{ cidr: rule.cidr }}
    >
      <p>This is the last rule. {opens}</p>
    </Dialog>
  ) : (
    <form method="post" action={action}>
      <input type="hidden" name="cidr" value={rule.cidr} />
      <button type="submit" class="quiet" aria-label={`Remove ${rule.cidr}`}>
        Remove
      </button>
    </form>
  )
