/** The door `/mcp` of an API whose proxy is another process (docs/design/mcp.md M17). */
import { assert, layer } from "@effect/vitest"
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { Effect } from "effect"
import { ask, signIn } from "../serving/support/ask.ts"
import { Program } from "../serving/support/Program.ts"
import { Serving } from "../serving/support/Serving.ts"

layer(Serving.layer, { excludeTestServices: true })("an API without a proxy in its process", (it) => {
  it.effect(
    "the door is open where the settings name a proxy: a key calls tools, and a person's session does not",
    () =>
      Effect.gen(function* () {
        const { environment, issuer } = yield* Serving
        // The tools of this test need no database, so no proxy is there.
        const settings = { ...environment, NARTHEX_MCP_PROXY: "127.0.0.1:9" }
        const api = (yield* Program.start("server", ["--roles", "api"], settings)).address("api")
        const { token } = yield* signIn(api, issuer.idToken("ada@example.com"))
        const { body } = yield* ask(api, "POST", "/v1/api-keys", token, { name: "agent" })
        const { isError } = yield* Effect.promise(async () => {
          const requestInit = { headers: { authorization: `Bearer ${body.secret}` } }
          const client = new Client({ name: "test", version: "1.0.0" })
          await client.connect(new StreamableHTTPClientTransport(new URL(`${api}/mcp`), { requestInit }))
          const answer = await client.callTool({ name: "list_projects", arguments: {} })
          await client.close()
          return answer
        })
        assert.isNotTrue(isError)
        assert.strictEqual((yield* ask(api, "POST", "/mcp", token, {})).status, 401)
      })
  )
})
