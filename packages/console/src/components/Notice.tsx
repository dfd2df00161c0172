/** A message about the page. Screen readers announce it. */
import type { ComponentChildren } from "preact"
import { Icon } from "./Icon.tsx"
import type { Tone } from "./tone.ts"

export interface NoticeProps {
  readonly tone?: Tone
  /** About the last action: it goes when the page's data changes, and a reload does not show it again. */
  readonly passing?: boolean
  /** Whether the notice has the focus, so that the keyboard goes on from here: for the answer to the last action. */
  readonly focused?: boolean
  readonly children: ComponentChildren
}

const icons = { good: "check", busy: "info", bad: "warning", idle: "info" } as const

export const Notice = ({ children, focused = false, passing = false, tone = "good" }: NoticeProps) => (
  <div
    class={`notice ${tone}`}
    data-passing={passing ? "" : undefined}
    {...(focused ? { tabIndex: -1, autofocus: true } : {})}
  >
    <Icon name={icons[tone]} />
    <div class="grow" role={tone === "bad" ? "alert" : "status"}>
      {children}
    </div>
  </div>
)
