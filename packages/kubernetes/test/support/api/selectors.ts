/** Selectors of labels and fields, as lists and watches take them. */
import { badRequest } from "./ApiFailure.ts"
import { type Fields, fieldsAt, textAt } from "./json.ts"

export type Matches = (object: Fields) => boolean

type Test = (labels: Fields) => boolean

const oneOf = (values: string) => values.split(",").map((value) => value.trim())

/** One requirement. An object without the label matches `!=` and `notin`. */
const requirement = (text: string): Test => {
  const set = /^([^\s!=]+)\s+(in|notin)\s+\(([^)]*)\)$/.exec(text)
  if (set !== null) {
    const [, name = "", kind, values = ""] = set
    const listed = oneOf(values)
    return (labels) => listed.includes(textAt(labels, name)) === (kind === "in") && (kind !== "in" || name in labels)
  }
  const equal = /^([^\s!=]+)\s*(==|=|!=)\s*(\S*)$/.exec(text)
  if (equal !== null) {
    const [, name = "", kind, value = ""] = equal
    return kind === "!="
      ? (labels) => textAt(labels, name) !== value || !(name in labels)
      : (labels) => labels[name] === value
  }
  if (/^![^\s=]+$/.test(text)) return (labels) => !(text.slice(1) in labels)
  if (/^[^\s=!]+$/.test(text)) return (labels) => text in labels
  throw badRequest(`unable to parse requirement: ${text}`)
}

/** Splits at the commas that are not within parentheses. */
const parts = (selector: string) =>
  selector
    .split(/,(?![^(]*\))/)
    .map((part) => part.trim())
    .filter((part) => part !== "")

const fieldRequirement = (text: string): Matches => {
  const [, path = "", kind, value] = /^([\w.]+)(==|=|!=)(.*)$/.exec(text) ?? []
  if (!["metadata.name", "metadata.namespace", "status.phase", "spec.nodeName"].includes(path))
    throw badRequest(`field label not supported: ${text}`)
  return (object) => (textAt(object, ...path.split(".")) === value) === (kind !== "!=")
}

export const matcherOf = (labelSelector: string | null, fieldSelector: string | null): Matches => {
  const labelTests = parts(labelSelector ?? "").map(requirement)
  const fieldTests = parts(fieldSelector ?? "").map(fieldRequirement)
  return (object) =>
    labelTests.every((test) => test(fieldsAt(object, "metadata", "labels"))) && fieldTests.every((test) => test(object))
}
