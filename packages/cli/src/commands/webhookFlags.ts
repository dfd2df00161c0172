/** The flags and arguments that commands of webhooks share. */
import { Label } from "@narthex/api"
import { Argument, Flag } from "effect/cli"
import { fittingFlag, pastedArgument, pastedFlag } from "../input/flags.ts"

export const webhookArgument = pastedArgument("webhook").pipe(
  Argument.withDescription("The label, URL or id of the webhook")
)

export const labelFlag = fittingFlag("label", Label).pipe(
  Flag.withDescription("What the webhook is for"),
  Flag.optional
)

export const typesFlag = pastedFlag("type").pipe(
  Flag.withDescription("Only events of this type; can be repeated"),
  Flag.atLeast(0),
  Flag.withDefault<ReadonlyArray<string>>([])
)

/** The types of the flags, of which each may have several, separated by commas. */
export const typesOf = (flags: ReadonlyArray<string>): ReadonlyArray<string> =>
  flags.flatMap((text) => text.split(",")).filter((type) => type !== "")
