import { assert, describe, it } from "@effect/vitest"
import { type ControlPlaneOptions, createControlPlane, isNarthexError, memory, postgres } from "../src/index.ts"

const refusal = async (options: ControlPlaneOptions) => {
  const made: unknown = await createControlPlane({ log: "off", ...options }).catch((error: unknown) => error)
  if (!isNarthexError(made)) return assert.fail("The options were accepted.")
  assert.strictEqual(made.code, "invalid_options")
  return made.message
}

describe("the options of a control plane", () => {
  it("storage that outlives the process is refused without a secret, with a sentence that says how to make one", async () => {
    const message = await refusal({ storage: { ...memory(), durable: true } })
    assert.match(message, /^secret: .*outlives the process.*openssl rand -base64 32/)
  })

  it("a secret of another length is refused without being shown", async () => {
    const message = await refusal({ secret: "much-too-short" })
    assert.match(message, /^secret: expected 32 bytes/)
    assert.notInclude(message, "much-too-short")
  })

  it("a secret is taken from the function that reads it", async () => {
    const secret = "A".repeat(43)
    const cp = await createControlPlane({ storage: { ...memory(), durable: true }, secret: async () => `${secret}\n` })
    await cp.close()
  })

  it("a provider that is not one is refused with the member that is wrong", async () => {
    const provider = { id: "google", name: "Google", issuer: "ftp://accounts.google.com", client_ids: ["me"] }
    assert.match(await refusal({ identity: [provider] }), /^identity: [\s\S]*issuer/)
  })

  it("a base path is refused unless it is one", async () => {
    for (const basePath of ["control", "/a b", "/a/../b", "/a?b", "https://example.com/control"])
      assert.match(await refusal({ basePath }), /^basePath: /)
  })

  it("an option that does not exist is refused with the names of those that do", async () => {
    // A mistake that the types find, made in JavaScript.
    const misspelt: object = { storge: memory() }
    assert.match(await refusal(misspelt), /^storge: there is no such option.* storage, /)
    const address: object = { clientAddress: "x-forwarded-for" }
    assert.match(await refusal(address), /^clientAddress: expected a function/)
  })

  it("a limit that is not a number from zero is refused, so that it does not end every limit", async () => {
    assert.match(await refusal({ limits: { quotas: { projects: Number.NaN } } }), /^limits\.quotas\.projects: /)
    assert.match(await refusal({ limits: { keys: -1 } }), /^limits\.keys: /)
    assert.match(await refusal({ grace: Number.NaN }), /^grace: /)
  })

  it("regions are refused unless each is an id, and there once", async () => {
    for (const regions of [[], ["Not A Region"], ["eu-1", "eu-1"]])
      assert.match(await refusal({ regions }), /^regions: /)
  })

  it("a pool without connections is refused instead of waiting for one forever", async () => {
    for (const maxConnections of [0, -4, Number.NaN])
      assert.match(
        await refusal({
          storage: postgres("postgresql://127.0.0.1:1/none", { maxConnections }),
          secret: "A".repeat(43)
        }),
        /^storage: maxConnections/
      )
  })

  it("two control planes in one process have nothing in common", async () => {
    const [one, two] = [
      await createControlPlane({ regions: ["eu-1"] }),
      await createControlPlane({ regions: ["us-1"] })
    ]
    const [first, second] = [await one.client().auth.jwks(), await two.client().auth.jwks()]
    assert.strictEqual(first.keys.length, 1)
    assert.notDeepEqual(first, second)
    await Promise.all([one.close(), two.close()])
  })
})
