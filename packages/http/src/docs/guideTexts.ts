/** The guides by name. Their texts are made from `docs/guides` by `scripts/docs.ts`. */
import { agents } from "./guides/agents.ts"
import { allowlists } from "./guides/allowlists.ts"
import { ci } from "./guides/ci.ts"
import { connecting } from "./guides/connecting.ts"
import { errors } from "./guides/errors.ts"
import { events } from "./guides/events.ts"
import { firstCall } from "./guides/firstCall.ts"
import { idempotency } from "./guides/idempotency.ts"
import { pagination } from "./guides/pagination.ts"
import { rateLimits } from "./guides/rateLimits.ts"
import { waiting } from "./guides/waiting.ts"

export interface Guide {
  /** The last part of its path. */
  readonly name: string
  readonly title: string
  /** Its first paragraph. */
  readonly summary: string
  readonly markdown: string
}

const texts: Readonly<Record<string, string>> = {
  "first-call": firstCall,
  connecting,
  waiting,
  errors,
  idempotency,
  pagination,
  "rate-limits": rateLimits,
  events,
  allowlists,
  ci,
  agents
}

/** The guides of these names; one without a text is left out. */
export const guidesOf = (names: ReadonlyArray<string>): ReadonlyArray<Guide> =>
  names.flatMap((name) => {
    const markdown = texts[name]
    if (markdown === undefined) return []
    const [, title = name, summary = ""] = /^# (.+)\n\n((?:.+\n)+)/.exec(markdown) ?? []
    return [{ name, title, summary: summary.trim().replaceAll("\n", " "), markdown }]
  })
