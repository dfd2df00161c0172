/**
 * The allowlist of a project: who may connect, and why an address may not.
 *
 * A project with an empty list accepts every address. Removing the last rule, or its expiry, therefore opens the
 * project, and the page warns before either (docs/design/console.md W14).
 */
import { Option } from "effect"
import { Actions } from "../../components/Actions.tsx"
import { Card } from "../../components/Card.tsx"
import { Command } from "../../components/Command.tsx"
import { Dialog } from "../../components/Dialog.tsx"
import { Empty } from "../../components/Empty.tsx"
import { summaryOf } from "../../components/ErrorSummary.tsx"
import { Field } from "../../components/Field.tsx"
import { HiddenFields } from "../../components/HiddenFields.tsx"
import { Notice } from "../../components/Notice.tsx"
import { Time } from "../../components/Times.tsx"
import { Page } from "../../shell/Page.tsx"
import { type AllowlistPageProps, admitting, opens, type Part, Rules, refusedFamily } from "./AllowlistRules.tsx"
import { inSection, mayChange, pathOf } from "./ProjectFrame.ts"
import { RefusedClients } from "./RefusedClients.tsx"

export const AllowlistPage = (props: AllowlistPageProps) => {
  const { allowlist, errors, frame, locksOut = false } = props
  const { opens_at, restricted } = allowlist
  const here = `${pathOf(props)}/ip-allow`
  const change = mayChange(frame)
  const refused = refusedFamily(allowlist)
  return (
    <Page
      {...inSection(props, "allowlist")}
      title="Allowlist"
      lead={<span>Networks that may connect to the endpoints. Changes reach the proxy within about 30 seconds.</span>}
      errors={summaryOf(errors)}
    >
      {locksOut ? <LocksOut {...props} here={here} /> : null}
      {Option.isSome(opens_at) ? (
        <Notice tone="busy">
          Every rule expires. From <Time at={opens_at.value} /> on, the project accepts connections from any address.
        </Notice>
      ) : null}
      {refused === null ? null : <Notice tone="busy">{refused}</Notice>}
      <Own {...props} here={here} />
      <Card
        id="ip-allow"
        title="Networks"
        more={
          change && restricted ? (
            <Dialog
              id="reset-allowlist"
              opener="Remove all"
              openerLabel="Remove all rules of the allowlist"
              title="Remove every rule?"
              action={`${here}/reset`}
              confirm="Remove every rule"
              typed={props.project.name}
            >
              <p>{opens}</p>
            </Dialog>
          ) : undefined
        }
      >
        {restricted ? (
          <Rules {...props} here={here} />
        ) : (
          <Empty title="Open to any address">
            <p>Once you add a rule, only the listed networks can connect to the project's endpoints.</p>
            <p>
              From the terminal: <Command>{"narthex ip-allow add <cidr> --project <project>"}</Command>
            </p>
          </Empty>
        )}
      </Card>
      {change && !locksOut ? <Editor {...props} here={here} /> : null}
      <RefusedClients {...props} here={here} />
    </Page>
  )
}

const Own = ({ allowlist, here, own, frame }: Part) => {
  if (own === null || !allowlist.restricted || admitting(allowlist.rules, own).length > 0) return null
  return (
    <Notice tone="bad">
      <span class="row">
        <span class="grow">
          Your address <code>{own}</code> is not on the list, so your own connections are refused.
        </span>
        {mayChange(frame) ? <AddOwn here={here} label="Add my address" /> : null}
      </span>
    </Notice>
  )
}

const AddOwn = ({ here, label }: { readonly here: string; readonly label: string }) => (
  <form method="post" action={here}>
    <HiddenFields fields={{ use: "client-address" }} />
    <button type="submit">{label}</button>
  </form>
)

/** Asks before the first rule refuses the person who adds it. */
const LocksOut = ({ draft, here, own }: Part) => (
  <Notice tone="busy" focused>
    <p>
      <b>This rule would lock you out.</b> It is the first one, so only <code>{draft.cidr}</code> may connect then, and
      your address <code>{own}</code> is not in it. Nothing was changed yet.
    </p>
    <Actions>
      <form method="post" action={here}>
        <HiddenFields fields={{ ...draft, confirmed: "true", with_own: "true" }} />
        <button type="submit" class="primary">
          Add it and my address
        </button>
      </form>
      <form method="post" action={here}>
        <HiddenFields fields={{ ...draft, confirmed: "true" }} />
        <button type="submit">Add it without mine</button>
      </form>
      <a class="button" href={here}>
        Cancel
      </a>
    </Actions>
  </Notice>
)

const Editor = ({ draft, edited, errors = {}, here, own, prefilled = false }: Part) => (
  <Card id="rule" title={edited === null ? "Add a network" : `Edit ${edited}`}>
    <form method="post" action={here} class="form inline" aria-label={edited === null ? "Add a rule" : "Edit a rule"}>
      {edited === null ? (
        <Field
          name="cidr"
          label="Network"
          value={draft.cidr}
          placeholder="203.0.113.0/24"
          hint="A CIDR network or one address."
          error={errors.cidr}
          autofocus={prefilled}
        />
      ) : (
        <HiddenFields fields={{ cidr: edited, edited }} />
      )}
      <Field
        name="label"
        label="Label"
        value={draft.label}
        maxLength={256}
        hint="Whose network it is."
        error={errors.label}
      />
      <Field
        name="hours"
        label="Expires in (hours)"
        value={draft.hours}
        inputMode="numeric"
        hint="Leave blank for no expiry."
        error={errors.hours}
      />
      <p class="actions">
        <button type="submit" class="primary">
          {edited === null ? "Add rule" : "Save rule"}
        </button>
        {edited === null ? (
          <button type="submit" name="use" value="client-address">
            Add my address{own === null ? "" : `, ${own}`}
          </button>
        ) : (
          <a class="button" href={here}>
            Cancel
          </a>
        )}
      </p>
    </form>
    {edited === null ? null : (
      <p class="note">The rule is replaced: it is created now and by you, and it never stops to apply in between.</p>
    )}
  </Card>
)
