/** The small pieces that pages are made of. */
import { DateTime } from "effect"
import type { ComponentChildren } from "preact"

export type Tone = "good" | "busy" | "bad" | "idle"

/** A state word. Its colour never says more than the word. */
export const Status = ({ children, tone }: { readonly tone: Tone; readonly children: ComponentChildren }) => (
  <span class={`status ${tone}`}>{children}</span>
)

/** A moment, in UTC; the script shows it in the reader's own zone. */
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

/** What just happened. Screen readers say it when the page opens. */
export const Notice = ({ children, tone = "good" }: { readonly tone?: Tone; readonly children: ComponentChildren }) => (
  <p class={`notice ${tone}`} role={tone === "bad" ? "alert" : "status"}>
    {children}
  </p>
)

/** A person may copy this. Without script there is nothing but the text. */
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

/** The command line does it too. */
export const Command = ({ children }: { readonly children: string }) => <code class="command">{children}</code>

export interface FieldProps {
  readonly name: string
  readonly label: string
  readonly value?: string
  readonly hint?: string | undefined
  readonly error?: string | undefined
  readonly required?: boolean
  readonly maxLength?: number
  readonly placeholder?: string
  readonly inputMode?: "numeric" | "text"
  readonly autoFocus?: boolean
}

/** A text field with its label, its hint, and what was wrong with it. */
export const Field = ({ error, hint, label, name, ...input }: FieldProps) => {
  const described = [hint === undefined ? "" : `${name}-hint`, error === undefined ? "" : `${name}-error`]
  return (
    <div class="field">
      <label htmlFor={name}>{label}</label>
      <input
        id={name}
        name={name}
        type="text"
        autocomplete="off"
        spellcheck={false}
        aria-invalid={error === undefined ? undefined : "true"}
        aria-describedby={described.join(" ").trim() || undefined}
        {...input}
      />
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

export interface Choice {
  readonly value: string
  readonly label: string
}

export interface SelectProps {
  readonly name: string
  readonly label: string
  readonly choices: ReadonlyArray<Choice>
  readonly chosen: string
  readonly hint?: string
  readonly error?: string | undefined
}

export const Select = ({ choices, chosen, error, hint, label, name }: SelectProps) => {
  const described = [hint === undefined ? "" : `${name}-hint`, error === undefined ? "" : `${name}-error`]
  return (
    <div class="field">
      <label htmlFor={name}>{label}</label>
      <select
        id={name}
        name={name}
        aria-invalid={error === undefined ? undefined : "true"}
        aria-describedby={described.join(" ").trim() || undefined}
      >
        {choices.map(({ label, value }) => (
          <option key={value} value={value} selected={value === chosen}>
            {label}
          </option>
        ))}
      </select>
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
  /** What the button that opens it says. */
  readonly opener: string
  /** The opener's full name, where several say the same. */
  readonly openerLabel?: string
  readonly title: string
  readonly action: string
  readonly confirm: string
  readonly fields?: Readonly<Record<string, string>>
  readonly children: ComponentChildren
}

/** Asks before a form that cannot be taken back. It opens without script where browsers know `command`. */
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
          Keep it
        </button>
        <button type="submit" class="danger">
          {confirm}
        </button>
      </form>
    </dialog>
  </>
)
