/** Components that several pages share. */
import { DateTime } from "effect"
import type { ComponentChildren } from "preact"

export type Tone = "good" | "busy" | "bad" | "idle"

/** A state as a word. Its colour adds no information. */
export const Status = ({ children, tone }: { readonly tone: Tone; readonly children: ComponentChildren }) => (
  <span class={`status ${tone}`}>{children}</span>
)

/** A time in UTC; with script, in the browser's time zone. */
export const Time = ({ at }: { readonly at: DateTime.Utc }) => {
  const iso = DateTime.formatIso(at)
  return (
    <local-time>
      <time dateTime={iso}>{`${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`}</time>
    </local-time>
  )
}

export const TimeOr = ({ at, none }: { readonly at: DateTime.Utc | null; readonly none: string }) =>
  at === null ? <span class="soft">{none}</span> : <Time at={at} />

/** The result of the last action. Screen readers announce it. */
export const Notice = ({ children, tone = "good" }: { readonly tone?: Tone; readonly children: ComponentChildren }) => (
  <p class={`notice ${tone}`} role={tone === "bad" ? "alert" : "status"}>
    {children}
  </p>
)

/** Text with a copy button; without script, the text only. */
export const Copyable = ({
  id,
  label,
  text
}: {
  readonly id: string
  readonly label: string
  readonly text: string
}) => (
  <span class="copyable">
    <code id={id}>{text}</code>
    <copy-button for={id} label={label} />
  </span>
)

export const Empty = ({ children, title }: { readonly title: string; readonly children: ComponentChildren }) => (
  <div class="empty">
    <p class="title">{title}</p>
    {children}
  </div>
)

/** A command or an id in code style. */
export const Command = ({ children }: { readonly children: string }) => <code class="command">{children}</code>

interface Labelled {
  readonly name: string
  readonly label: string
  readonly hint?: string | undefined
  readonly error?: string | undefined
}

export interface TextFieldProps extends Labelled {
  readonly value?: string
  readonly required?: boolean
  readonly maxLength?: number
  readonly placeholder?: string
  readonly inputMode?: "numeric" | "text"
}

export interface Choice {
  readonly value: string
  readonly label: string
}

export interface ChoiceFieldProps extends Labelled {
  readonly choices: ReadonlyArray<Choice>
  /** The choice that is selected. */
  readonly value: string
}

/** A labelled text field, or a select when it has `choices`, with its hint and error. */
export const Field = ({ error, hint, label, ...control }: TextFieldProps | ChoiceFieldProps) => {
  const { name } = control
  const described = [hint === undefined ? "" : `${name}-hint`, error === undefined ? "" : `${name}-error`]
  const shared = {
    id: name,
    name,
    "aria-invalid": error === undefined ? undefined : ("true" as const),
    "aria-describedby": described.join(" ").trim() || undefined
  }
  return (
    <div class="field">
      <label htmlFor={name}>{label}</label>
      {"choices" in control ? (
        <select {...shared}>
          {control.choices.map(({ label, value }) => (
            <option key={value} value={value} selected={value === control.value}>
              {label}
            </option>
          ))}
        </select>
      ) : (
        <input type="text" autocomplete="off" spellcheck={false} {...shared} {...control} />
      )}
      {hint === undefined ? null : (
        <p class="hint" id={`${name}-hint`}>
          {hint}
        </p>
      )}
      {error === undefined ? null : (
        <p class="error" id={`${name}-error`}>
          {error}
        </p>
      )}
    </div>
  )
}

export interface ConfirmProps {
  readonly id: string
  /** The label of the button that opens the dialog. */
  readonly opener: string
  /** The opener's accessible name, where several have the same label. */
  readonly openerLabel?: string
  readonly title: string
  readonly action: string
  readonly confirm: string
  readonly fields?: Readonly<Record<string, string>>
  readonly children: ComponentChildren
}

/** A confirmation dialog before an irreversible form. It opens without script in browsers that know `command`. */
export const Confirm = ({ action, children, confirm, fields = {}, id, opener, openerLabel, title }: ConfirmProps) => (
  <>
    <button type="button" class="quiet danger" command="show-modal" commandfor={id} aria-label={openerLabel}>
      {opener}
    </button>
    <dialog id={id} aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`}>{title}</h2>
      {children}
      <form method="post" action={action} class="actions">
        {Object.entries(fields).map(([name, value]) => (
          <input key={name} type="hidden" name={name} value={value} />
        ))}
        <button type="button" command="close" commandfor={id}>
          Cancel
        </button>
        <button type="submit" class="danger">
          {confirm}
        </button>
      </form>
    </dialog>
  </>
)
