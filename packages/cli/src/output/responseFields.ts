/**
 * The fields that `--json` of a command chooses from, as the contract declares them: those of a list's items, else those of
 * the response. A field of a newer server is not among them.
 */
import { Api } from "@narthex/api"
import { Schema, type SchemaAST } from "effect"
import type { HttpApi } from "effect/http-api"

/** The groups of the API whose calls have the names of commands. */
const groups: Readonly<Record<string, string>> = {
  project: "projects",
  branch: "branches",
  endpoint: "endpoints",
  operation: "operations",
  sandbox: "sandboxes",
  "ip-allow": "ipAllow",
  region: "regions",
  org: "orgs",
  "api-key": "apiKeys"
}

/** Commands whose calls have other names. */
const others: Readonly<Record<string, readonly [group: string, call: string]>> = {
  whoami: ["auth", "whoami"],
  "session list": ["auth", "sessions"],
  "member list": ["orgs", "members"],
  "credential list": ["branches", "credentials"],
  "credential create": ["branches", "mint"],
  "invitation list": ["ownInvitations", "list"]
}

// Calls are looked up by their names, so their types are not known one by one.
const contract = Api as unknown as HttpApi.Top

/** `path`: the words of the command, `narthex` first. Empty for a command whose answer is not a response of the API. */
export const responseFields = ([, ...words]: ReadonlyArray<string>): ReadonlyArray<string> => {
  const [kind = "", verb = ""] = words
  const [group, call] = others[words.join(" ")] ?? [groups[kind] ?? "", verb]
  const [success] = contract.groups[group]?.endpoints[call]?.success ?? []
  return success === undefined ? [] : fieldsOf(Schema.toEncoded(success).ast)
}

const fieldsOf = (ast: SchemaAST.AST): ReadonlyArray<string> => {
  if (ast._tag !== "Objects") return []
  const members = ast.propertySignatures.filter(({ name }) => name !== "pagination")
  const lists = members.flatMap(({ type }) => (type._tag === "Arrays" ? type.rest : []))
  const single = members.some(({ type }) => type._tag === "Objects")
  const [item] = lists
  if (item !== undefined && lists.length === 1 && !single) return fieldsOf(item)
  return ast.propertySignatures.map(({ name }) => String(name))
}
