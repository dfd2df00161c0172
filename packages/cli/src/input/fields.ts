/** Fields of `narthex api -f key=value -F key=value`, in the syntax of `gh api`: `name`, `member[name]`, `list[]`. */
import { Option, Result, Schema } from "effect"
import { UsageMistake } from "../failures/LocalFailure.ts"

export const splitField = (field: string): readonly [key: string, value: string] => {
  const at = field.indexOf("=")
  return [field.slice(0, at), field.slice(at + 1)]
}

const decodeJson = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Unknown))

/** JSON where the text is JSON: true, false, null, numbers, objects, lists and quoted texts. Anything else is a text. */
export const typedValue = (text: string): unknown => Option.getOrElse(decodeJson(text), () => text)

type Tree = { [name: string]: unknown }

/** The object of the fields. A member cannot be a value and an object, or a list and an object, at once. */
export const nested = (
  fields: ReadonlyArray<readonly [key: string, value: unknown]>
): Result.Result<Readonly<Record<string, unknown>>, UsageMistake> => {
  const root: Tree = Object.create(null)
  for (const [key, value] of fields) {
    const [first = "", ...rest] = key.split("[").map((part) => part.replace(/\]$/, ""))
    if (!put(root, [first, ...rest], value))
      return Result.fail(new UsageMistake({ message: `The field ${key} contradicts an earlier one.` }))
  }
  return Result.succeed(root)
}

/** Returns whether there is a place for the value. */
const put = (into: Tree | Array<unknown>, [name = "", ...rest]: ReadonlyArray<string>, value: unknown): boolean => {
  if (Array.isArray(into)) {
    if (name !== "") return false
    if (rest.length === 0) into.push(value)
    else {
      const child = newChild(rest)
      into.push(child)
      return put(child, rest, value)
    }
    return true
  }
  if (name === "") return false
  if (rest.length === 0) {
    if (name in into) return false
    into[name] = value
    return true
  }
  const child = into[name] ?? newChild(rest)
  if (!isBranch(child)) return false
  into[name] = child
  return put(child, rest, value)
}

const newChild = ([next]: ReadonlyArray<string>): Tree | Array<unknown> => (next === "" ? [] : Object.create(null))

const isBranch = (value: unknown): value is Tree | Array<unknown> => typeof value === "object" && value !== null
