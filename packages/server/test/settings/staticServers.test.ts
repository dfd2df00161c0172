/** How proxies reach the servers of an operator: docs/design/proxy.md P25. */
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { staticComputes } from "../../src/settings/staticServers.ts"

const ca = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"

const read = (server: object) => staticComputes.read(JSON.stringify([server]))
const tlsOf = (server: object) => Result.getOrThrow(read(server)).map(({ tls }) => tls)

describe("the servers of NARTHEX_STATIC_COMPUTES", () => {
  it("each choice of `tls` is read as what the proxy verifies", () => {
    const address = "db.example:5432"
    assert.deepStrictEqual(tlsOf({ address, tls: "verify" }), [{ ca: null }])
    assert.deepStrictEqual(tlsOf({ address, tls: { ca } }), [{ ca }])
    assert.deepStrictEqual(tlsOf({ address, tls: "none" }), [null])
  })

  it("an address of this machine needs no choice, and every other one does", () => {
    for (const address of ["/run/postgresql/.s.PGSQL.5432", "localhost:5432", "127.1.2.3:5432", "[::1]:5432"])
      assert.deepStrictEqual(tlsOf({ address }), [null], address)
    for (const address of ["db.example:5432", "10.0.0.1:5432", "localhost.example:5432", "127.0.0.1.example:5432"])
      assert.isTrue(Result.isFailure(read({ address })), address)
  })

  it("a `ca` that holds no certificate is refused at the start, not at the first connection", () => {
    for (const text of ["", "/etc/ssl/ca.pem", "-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----\n"])
      assert.isTrue(Result.isFailure(read({ address: "db.example:5432", tls: { ca: text } })), text)
  })
})
