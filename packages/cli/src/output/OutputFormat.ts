/** `-o table|json|yaml`, before or after the subcommand. */
import { Flag, GlobalFlag } from "effect/cli"

const formats = ["table", "json", "yaml"] as const
export type Format = (typeof formats)[number]

export const OutputFormat = GlobalFlag.Setting("output")({
  flag: Flag.Literals("output", formats).pipe(
    Flag.withAlias("o"),
    Flag.withDescription("Output format; the default is table"),
    Flag.withMetavar("table|json|yaml"),
    Flag.withDefault("table")
  )
})

/** The requirement of an effect that reads `OutputFormat`. */
export type NeedsFormat = GlobalFlag.Setting.Identifier<"output">
