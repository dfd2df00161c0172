/** The flags of every command. The parser and completion read this list. */
import { GlobalFlag } from "effect/cli"
import { ContextFlag } from "../contexts/ContextFlag.ts"
import { NoInput } from "../input/confirm.ts"
import { JqFilter } from "../output/JqFilter.ts"
import { JsonFields, OutputFormat } from "../output/OutputFormat.ts"

export const ownFlags = [OutputFormat, JsonFields, JqFilter, ContextFlag, NoInput] as const

/** Without the wizard, which prints questions on standard output, and with `narthex completion` instead of a flag. */
export const builtInFlags = [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.LogLevel] as const
