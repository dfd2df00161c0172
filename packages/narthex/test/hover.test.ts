/** Texts of the client and the control plane in an editor (docs/design/client.md L1). */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { createClient } from "@narthex/api"
import { LanguageServer } from "../../../test/support/LanguageServer.ts"
import { createControlPlane } from "../src/index.ts"

const setUp = [
  'import { createControlPlane } from "../src/index.ts"',
  "const cp = await createControlPlane()",
  "const client = cp.client()",
  'const { project } = await client.projects.get({ project_id: "" })',
  'const { api_key, secret } = await client.apiKeys.create({ name: "ci" })'
]

let server: LanguageServer
let programs = 0

/** The text that an editor shows for the last name of each expression. */
const hovers = async (expressions: ReadonlyArray<string>) => {
  programs += 1
  const shown = await server.hovers(`packages/narthex/test/program${programs}.ts`, [...setUp, ...expressions])
  return new Map(expressions.map((expression, at) => [expression, shown[setUp.length + at] ?? ""]))
}

/** The text below the code. */
const textOf = (hover = "") => hover.replace(/```[^`]*```/, "").trim()

const withoutText = (shown: ReadonlyMap<string, string>) =>
  [...shown].flatMap(([expression, hover]) => (textOf(hover) === "" ? [expression] : []))

/** `name.member` of each function and object. */
const membersOf = (name: string, value: object) => Object.keys(value).map((member) => `${name}.${member}`)

describe("texts in an editor", () => {
  beforeAll(async () => {
    server = await LanguageServer.start()
  })
  afterAll(() => server[Symbol.asyncDispose]())

  it("every group and every call of the client has a text", async () => {
    const client = createClient({ baseUrl: "http://narthex.invalid" })
    const calls = Object.entries(client).flatMap(([group, calls]) => membersOf(`client.${group}`, calls))
    assert.deepStrictEqual(withoutText(await hovers([...membersOf("client", client), ...calls])), [])
  })

  it("every member of the control plane, and every call of its groups, has a text", async () => {
    await using cp = await createControlPlane({ log: "off" })
    const groups = Object.entries(cp).filter(([, member]) => typeof member === "object")
    const calls = groups.flatMap(([group, calls]) => membersOf(`cp.${group}`, calls))
    assert.deepStrictEqual(withoutText(await hovers([...membersOf("cp", cp), ...calls])), [])
  })

  it("records have names, and their members texts", async () => {
    const shown = await hovers(["project", "api_key", "project.created_at", "api_key.capability", "secret"])
    assert.match(shown.get("project") ?? "", /: Project$/m)
    assert.match(shown.get("api_key") ?? "", /: ApiKey$/m)
    assert.strictEqual(textOf(shown.get("project.created_at")), "When it was created.")
    assert.deepStrictEqual(withoutText(shown), [])
  })
})
