/** Refuses options that do not fit before anything is started (docs/design/library.md N3). */
import { isRegionId } from "@narthex/core"
import { Predicate } from "effect"
import { invalidOptions } from "../failures/failures.ts"
import { isRecord, nameOf, problemOf, reading } from "../failures/forms.ts"
import type { ControlPlaneOptions } from "./ControlPlaneOptions.ts"
import { optionForms } from "./optionForms.ts"

/** The problem with the options, as a sentence that begins with the option. */
export const problemOfOptions = (options: ControlPlaneOptions): string | undefined =>
  reading("options", () => problemIn(options))

const problemIn = (options: ControlPlaneOptions): string | undefined => {
  if (!isRecord(options)) return `options: expected an object, not ${nameOf(options)}.`
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(optionForms, name))
  if (unknown !== undefined)
    return `${unknown}: there is no such option. The options are ${Object.keys(optionForms).join(", ")}.`
  for (const [name, form] of Object.entries(optionForms)) {
    const problem = reading(name, () => problemOf(name, Reflect.get(options, name), form))
    if (problem !== undefined) return problem
  }
  const { identity, regions = ["local"] } = options
  const ids = Array.isArray(identity) ? identity.flatMap((it) => (Predicate.hasProperty(it, "id") ? [it.id] : [])) : []
  const twice = ids.find((id, at) => ids.indexOf(id) < at)
  if (twice !== undefined) return `identity: two providers have the id ${JSON.stringify(twice)}. Give each its own.`
  const wrong = regions.find((id) => !isRegionId(id))
  if (wrong !== undefined)
    return `regions: ${JSON.stringify(wrong)} is not a region id. Use up to 63 lower-case letters, digits and hyphens.`
  return regions.length === 0 || new Set(regions).size < regions.length
    ? "regions: expected at least one id, and each once. The first is the default region."
    : undefined
}

/** Throws a `NarthexError` with the code `invalid_options`. */
export const checkOptions = (options: ControlPlaneOptions): void => {
  const problem = problemOfOptions(options)
  if (problem !== undefined) throw invalidOptions(problem)
}
