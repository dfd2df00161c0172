/** A question before a form that cannot be undone. It opens without script in browsers that know `command`. */
import type { ComponentChildren } from "preact"
import { Field } from "./Field.tsx"
import { HiddenFields } from "./HiddenFields.tsx"

export interface DialogProps {
  readonly id: string
  /** The label of the button that opens the dialog. Left out: an item of a menu opens it. */
  readonly opener?: string
  /** The opener's accessible name, where several have the same label. */
  readonly openerLabel?: string
  readonly title: string
  /** The label of the button that sends the form. */
  readonly confirm: string
  readonly action: string
  readonly fields?: Readonly<Record<string, string>>
  readonly tone?: "danger" | "plain"
  /** The text to type before the form can be sent. It is sent as `typed`, and the handler compares it too. */
  readonly typed?: string
  readonly children?: ComponentChildren
}

/** The text as a regular expression that matches exactly it (of `pattern`, which has the flag `v`). */
const exactly = (text: string) => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&")

export const Dialog = (props: DialogProps) => {
  const { action, children, confirm, fields = {}, id, opener, openerLabel, title, tone = "danger", typed } = props
  return (
    <>
      {opener === undefined ? null : (
        <button
          type="button"
          class={tone === "danger" ? "danger" : undefined}
          command="show-modal"
          commandfor={id}
          aria-label={openerLabel}
        >
          {opener}
        </button>
      )}
      <dialog id={id} aria-labelledby={`${id}-title`}>
        <h2 id={`${id}-title`}>{title}</h2>
        <form method="post" action={action} class="stack">
          <HiddenFields fields={fields} />
          {children}
          {typed === undefined ? null : (
            <Field
              id={`${id}-typed`}
              name="typed"
              label={`Type ${typed} to confirm`}
              required
              pattern={exactly(typed)}
            />
          )}
          <div class="actions">
            <button type="submit" class={tone === "danger" ? "primary danger" : "primary"}>
              {confirm}
            </button>
            <button type="button" command="close" commandfor={id} autofocus={typed === undefined && tone === "danger"}>
              Cancel
            </button>
          </div>
        </form>
      </dialog>
    </>
  )
}
