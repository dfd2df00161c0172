/** Flags of commands. They refuse values that the API could not accept. */
import { parseProjectId } from "@narthex/api"
import { Option } from "effect"
import { Flag } from "effect/cli"

/** `--project <project_id>`. The id becomes part of a URL path, so its form is checked first. */
export const projectFlag = Flag.String("project").pipe(
  Flag.withMetavar("project_id"),
  Flag.withDescription("The id of the project, prj-…"),
  Flag.filterMap(parseProjectId, () => "Expected a project id such as prj-01hzx…; narthex project list shows the ids")
)

const seconds: Readonly<Record<string, number>> = { "": 1, s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 }

/** The API's limit for `ttl_seconds`. */
const tenYears = 315_360_000

/** A duration in seconds: `90`, `30m`, `8h`, `7d`, `2w`. A number without a unit is seconds. */
const parseTtl = (text: string): Option.Option<number> => {
  const [, count, unit] = /^([1-9]\d{0,8})([smhdw]?)$/.exec(text) ?? []
  const total = Number(count) * (seconds[unit ?? ""] ?? Number.NaN)
  return total <= tenYears ? Option.some(total) : Option.none()
}

/** `--ttl <duration>`, in seconds. */
export const ttlFlag = Flag.String("ttl").pipe(
  Flag.withMetavar("duration"),
  Flag.withDescription("Lifetime of the rule: 90 (seconds), 30m, 8h, 7d. Default: until it is removed"),
  Flag.filterMap(parseTtl, () => "Expected a duration such as 30m, 8h or 7d, of at most ten years")
)

/** `--yes`: confirms without a question. */
export const yesFlag = Flag.Boolean("yes").pipe(
  Flag.withAlias("y"),
  Flag.withoutNegation,
  Flag.withDescription("Confirm without being asked"),
  Flag.withDefault(false)
)
