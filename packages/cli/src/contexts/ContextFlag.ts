/** `--context <name>`, and the argument of `narthex context use|remove`: the name of a stored context. */
import { Argument, Flag, GlobalFlag } from "effect/cli"
import { isContextName } from "./StoredContexts.ts"

const expected = () => "Expected 1 to 64 letters, digits, dots, underscores and hyphens"

export const ContextFlag = GlobalFlag.Setting("context")({
  flag: Flag.String("context").pipe(
    Flag.withDescription("The stored context to use; login stores the new key under this name"),
    Flag.withMetavar("name"),
    Flag.filter(isContextName, expected),
    Flag.optional
  )
})

/** The requirement of an effect that reads `ContextFlag`. */
export type NeedsContext = GlobalFlag.Setting.Identifier<"context">

export const contextArgument = Argument.String("name").pipe(
  Argument.withDescription("The name of a context"),
  Argument.filter(isContextName, expected)
)
