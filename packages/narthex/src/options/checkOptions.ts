/**
 * Refuses options that do not fit before anything is started (docs/design/library.md N3). The types find most mistakes;
 * this finds those of JavaScript, and numbers that were made from text.
 */
import { isRegionId } from "@narthex/core"
import { invalidOptions } from "../failures/failures.ts"
import type { ControlPlaneOptions } from "./ControlPlaneOptions.ts"

const names: Record<keyof ControlPlaneOptions, true> = {
  storage: true,
  secret: true,
  identity: true,
  computes: true,
  regions: true,
  signup: true,
  sessions: true,
  events: true,
  eventTypes: true,
  roles: true,
  limits: true,
  issuer: true,
  runner: true,
  proxyToken: true,
  basePath: true,
  clientAddress: true,
  log: true,
  grace: true
}

/** The path of a number that counts nothing. */
const badNumber = (value: unknown, path: string): string | undefined => {
  if (typeof value === "number") return value >= 0 ? undefined : path
  if (typeof value !== "object" || value === null) return undefined
  for (const [name, member] of Object.entries(value)) {
    const bad = badNumber(member, `${path}.${name}`)
    if (bad !== undefined) return bad
  }
  return undefined
}

/** Throws a `NarthexError` with the code `invalid_options`. */
export const checkOptions = (options: ControlPlaneOptions): void => {
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(names, name))
  if (unknown !== undefined)
    throw invalidOptions(`${unknown}: there is no such option. The options are ${Object.keys(names).join(", ")}.`)

  const { clientAddress, grace = 0, regions = ["local"] } = options
  if (typeof clientAddress !== "function" && clientAddress !== undefined)
    throw invalidOptions("clientAddress: expected a function of the request and the socket's address.")
  for (const [name, value] of Object.entries({ limits: options.limits, events: options.events, grace })) {
    const bad = badNumber(value, name)
    if (bad !== undefined) throw invalidOptions(`${bad}: expected a number from 0.`)
  }
  if (typeof grace !== "number") throw invalidOptions("grace: expected a number of milliseconds.")
  const wrong = regions.find((id) => !isRegionId(id))
  if (wrong !== undefined)
    throw invalidOptions(
      `regions: ${JSON.stringify(wrong)} is no id of a region. Use up to 63 lower-case letters, digits and hyphens.`
    )
  if (regions.length === 0 || new Set(regions).size < regions.length)
    throw invalidOptions("regions: expected at least one id, and each once. The first is the default region.")
}
