/** The tables of SQLSTATEs for users and for contributors, compared with every error that the proxy sends. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as outcomes from "../../src/outcomes/Refusal.ts"

const { cuts, Hangup: _hangup, Refusal, ServerError: _serverError, ...named } = outcomes

const [address, id, role] = ["203.0.113.7", "ep-a", "ann"]

/** Each function with arguments. A function that is missing here does not compile. */
const made: { readonly [Name in keyof typeof named]: InstanceType<typeof Refusal> } = {
  notListed: named.notListed(address, "prj-a"),
  noLongerListed: named.noLongerListed(address, "prj-a"),
  wrongPassword: named.wrongPassword(role),
  malformedExchange: named.malformedExchange(),
  unsupportedExchange: named.unsupportedExchange(),
  bindingMismatch: named.bindingMismatch(),
  notAuthenticated: named.notAuthenticated(),
  unproven: named.unproven(),
  foreignServer: named.foreignServer(),
  replicationUnsupported: named.replicationUnsupported(),
  unknownDatabase: named.unknownDatabase("shop"),
  notStarted: named.notStarted(),
  tlsRequired: named.tlsRequired(),
  rulesUnknown: named.rulesUnknown(),
  unavailable: named.unavailable(),
  wakeTimedOut: named.wakeTimedOut(),
  restarting: named.restarting(),
  noEndpoint: named.noEndpoint(),
  unknownEndpoint: named.unknownEndpoint(id),
  otherRegion: named.otherRegion(id, "eu-1", "db.example.com"),
  contradictoryEndpoints: named.contradictoryEndpoints([id, "ep-b"]),
  disabledEndpoint: named.disabledEndpoint(id),
  reservedRole: named.reservedRole(role),
  tooMany: named.tooMany("connections"),
  tooManyComputes: named.tooManyComputes(),
  badPacket: named.badPacket("it is too long"),
  unsupportedProtocol: named.unsupportedProtocol(2, 0)
}

const sent = [...new Set([...Object.values(made), ...Object.values(cuts)].map(({ sqlstate }) => sqlstate))]

const listedIn = (page: ReadonlyArray<string>): ReadonlyArray<string> => {
  const text = readFileSync(join(import.meta.dirname, "../../../../docs", ...page), "utf8")
  const [, table = ""] = /\n\| SQLSTATE \|[^\n]*\n[^\n]*\n((?:\|[^\n]*\n)+)/.exec(text) ?? []
  return [...table.matchAll(/^\| ([^|]+) \|/gm)].flatMap(([, codes = ""]) => codes.match(/\b[0-9A-Z]{5}\b/g) ?? [])
}

describe("SQLSTATEs of the proxy", () => {
  for (const [folder, name, others] of [
    // A warning of Postgres, which the proxy adds to a session.
    ["guides", "connecting", ["53100"]],
    ["design", "proxy", []]
  ] as const)
    it(`the table of docs/${folder}/${name}.md has every SQLSTATE that the proxy sends`, () => {
      const listed = listedIn([folder, `${name}.md`])
      assert.deepStrictEqual(
        sent.filter((sqlstate) => !listed.includes(sqlstate)),
        []
      )
      assert.deepStrictEqual(
        listed.filter((sqlstate) => !sent.includes(sqlstate)),
        [...others]
      )
    })
})
