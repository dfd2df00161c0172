/** A person who uses a platform that an operator has set up: with a key, a project, and `psql` through the proxy. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { eventually } from "../harness/eventually.ts"
import { ask, signIn } from "../serving/support/ask.ts"
import type { Issuer } from "../serving/support/Issuer.ts"

interface Place {
  /** The API's URL. */
  readonly address: string
  readonly issuer: Issuer
  /** The port of the proxy on loopback. */
  readonly proxy: number | undefined
  /** Runs the lines of a block, and returns what they print. */
  readonly type: (block: string) => Effect.Effect<string>
}

/** Signs in, makes a key and a project, and mints a credential for its database. */
export const person = (place: Place) =>
  Effect.gen(function* () {
    const { address, issuer, proxy, type } = place
    const { token } = yield* signIn(address, issuer.idToken("ada@example.com"))
    const { body } = yield* ask(address, "POST", "/v1/projects", token, { name: "shop" })
    const [project, branch, endpoint] = [body.project.id, body.branch.id, body.endpoint.id].map(String)
    const credentials = `/v1/projects/${project}/branches/${branch}/credentials`
    let minted: { readonly credential: { readonly role: string }; readonly password: string } | undefined
    yield* eventually(
      "a credential",
      Effect.map(ask(address, "POST", credentials, token, { access: "read_write" }), (answer) => {
        if (answer.status === 201) minted = answer.body
        return answer.status === 201
      }),
      { every: 200 }
    )
    const { credential, password } = minted ?? assert.fail("a credential")
    const uri = `postgresql://${credential.role}:${password}@127.0.0.1:${proxy}/postgres?sslmode=require&options=endpoint%3D${endpoint}`
    const psql = (statement: string) =>
      type(`psql '${uri}' --no-psqlrc --tuples-only --no-align --command "${statement}"`)
    const key = yield* ask(address, "POST", "/v1/api-keys/", token, { name: "ci" })
    assert.strictEqual(key.status, 201, JSON.stringify(key.body))
    const secret = String(key.body.secret)
    const projects = (credential: string) =>
      Effect.map(ask(address, "GET", "/v1/projects", credential), ({ body, status }) =>
        status === 200 ? body.projects.map((it: { readonly name: string }) => it.name) : status
      )
    return { projects, psql, secret, token }
  })
