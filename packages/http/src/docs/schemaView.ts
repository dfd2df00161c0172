/**
 * Members of bodies as lists: name, type, whether it is needed, and what it means. Named schemas are
 * links from pages of `docs/reference`.
 */
import { escaped, inline } from "./html.ts"

type Json = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value)
export const object = (value: unknown): Json => (isObject(value) ? value : {})
export const objects = (value: unknown): ReadonlyArray<Json> => (Array.isArray(value) ? value.filter(isObject) : [])
export const text = (value: unknown): string => (typeof value === "string" ? value : "")

const referenced = (schema: Json): string | undefined => text(schema["$ref"]).split("/").at(-1) || undefined

const partsOf = (schema: Json): ReadonlyArray<Json> => {
  const parts = objects(schema["anyOf"])
  return parts.length === 0 ? [schema] : parts.flatMap(partsOf)
}

const bounds = (schema: Json): string => {
  const [least, most] = [schema["minimum"] ?? schema["minLength"], schema["maximum"] ?? schema["maxLength"]]
  if (least === undefined && most === undefined) return ""
  return ` ${most === undefined ? `from ${least}` : `${least ?? ""}–${most}`}`
}

/** One part of a type, as HTML. */
const partType = (schema: Json): string => {
  const name = referenced(schema)
  if (name !== undefined) return `<a href="objects#object-${name}">${name}</a>`
  const values = Array.isArray(schema["enum"]) ? schema["enum"] : []
  if (values.length > 0) return values.map((value) => escaped(JSON.stringify(value))).join(" | ")
  if (schema["type"] === "array") return `list of ${typeOf(object(schema["items"]))}`
  const format = text(schema["format"])
  return escaped(`${text(schema["type"]) || "any"}${format === "" ? "" : ` (${format})`}${bounds(schema)}`)
}

/** The type of a value, as HTML. An open enumeration is its values and "…". */
export const typeOf = (schema: Json): string => {
  const parts = partsOf(schema)
  const open =
    parts.some((part) => Array.isArray(part["enum"])) &&
    parts.some((part) => part["type"] === "string" && part["enum"] === undefined)
  const shown = parts.filter((part) => !(open && part["type"] === "string" && part["enum"] === undefined))
  const types = [...new Set(shown.map((part) => partType(part)))]
  return [...types, ...(open ? ["…"] : [])].join(" | ")
}

/** The schema of a value, or of its items, if it is an object without a name of its own; else `undefined`. */
const inner = (schema: Json): Json | undefined =>
  partsOf(schema)
    .map((part) => (part["type"] === "array" ? object(part["items"]) : part))
    .find((part) => isObject(part["properties"]))

/** The members of an object, those of its inner objects below them. */
export const membersView = (schema: Json): string => {
  const needed = Array.isArray(schema["required"]) ? schema["required"] : []
  const rows = Object.entries(object(schema["properties"])).map(([name, value]) => {
    const member = object(value)
    const below = inner(member)
    return `<div><dt><code>${escaped(name)}</code> <span class="type">${typeOf(member)}</span>${
      needed.includes(name) ? ` <span class="needed">required</span>` : ""
    }</dt><dd>${inline(text(member["description"]))}${below === undefined ? "" : membersView(below)}</dd></div>`
  })
  return `<dl class="members">${rows.join("")}</dl>`
}

/** The members of a body; a named schema is a link. */
export const bodyView = (schema: Json): string =>
  isObject(schema["properties"]) ? membersView(schema) : `<p class="type">${typeOf(schema)}</p>`
