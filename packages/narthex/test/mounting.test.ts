/**
 * Where hosts mount the API: at a base path, behind a framework, with an address of their own choice.
 * Holds docs/design/library.md N8, N12, N16 and N18.
 */
import { IncomingMessage, request, ServerResponse } from "node:http"
import { Socket } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { within } from "../../../test/harness/eventually.ts"
import { type ControlPlane, createControlPlane, isNarthexError, type LogEntry } from "../src/index.ts"
import { type Listener, listening, withControlPlane } from "./support/mounted.ts"

const exchange = (id_token: string) => ({
  method: "POST",
  body: JSON.stringify({ id_token }),
  headers: { "content-type": "application/json" }
})

describe("a base path", () => {
  it("a base path is where the API is, and nothing is outside of it", () =>
    withControlPlane({ basePath: "/control/" }, async ({ fetch }) => {
      const status = async (path: string) => (await fetch(new Request(`http://localhost${path}`))).status
      assert.strictEqual(await status("/control/readyz"), 200)
      assert.strictEqual(await status("/control/v1/regions"), 401)
      for (const path of ["/readyz", "/control", "/controlreadyz", "/control//readyz", "/", "/other/control/readyz"])
        assert.strictEqual(await status(path), 404, path)
    }))

  it("a handler below a mount point of Express serves the path below it", () =>
    withControlPlane({}, async ({ node }) => {
      // Express takes the mount point off `url`, and keeps the whole in `originalUrl`.
      const express: Listener = (incoming, outgoing) => {
        const originalUrl = incoming.url ?? "/"
        Object.assign(incoming, { originalUrl, baseUrl: "/control", url: originalUrl.slice("/control".length) })
        node(incoming, outgoing)
      }
      await listening(express, async (port) => {
        assert.strictEqual((await fetch(`http://127.0.0.1:${port}/control/readyz`)).status, 200)
      })
    }))

  it("a base path is compared with the whole path, also below a mount point of Express", () =>
    withControlPlane({ basePath: "/control" }, async ({ node }) => {
      const express: Listener = (incoming, outgoing) => {
        const originalUrl = incoming.url ?? "/"
        Object.assign(incoming, { originalUrl, baseUrl: "/control", url: originalUrl.slice("/control".length) })
        node(incoming, outgoing)
      }
      await listening(express, async (port) => {
        assert.strictEqual((await fetch(`http://127.0.0.1:${port}/control/readyz`)).status, 200)
      })
    }))
})

describe("the location of what was created", () => {
  const createProject = async (cp: ControlPlane, url: string, send: (request: Request) => Promise<Response>) => {
    const { access_token } = await cp.sessions.start(await cp.people.ensure({ subject: "user_42" }))
    const answer = await send(
      new Request(url, {
        method: "POST",
        headers: { authorization: `Bearer ${access_token}`, "content-type": "application/json" },
        body: JSON.stringify({ name: "shop" })
      })
    )
    const { project } = await answer.json()
    return { location: answer.headers.get("location"), path: `/v1/projects/${project.id}` }
  }

  it("Location begins with the base path, and with no other", async () => {
    for (const basePath of ["", "/control", "/a/b"])
      await withControlPlane({ basePath }, async (cp) => {
        const { location, path } = await createProject(cp, `http://localhost${basePath}/v1/projects`, cp.fetch)
        assert.strictEqual(location, `${basePath}${path}`)
      })
  })

  it("Location begins with the mount point of Express", () =>
    withControlPlane({}, async (cp) => {
      const express: Listener = (incoming, outgoing) => {
        const originalUrl = incoming.url ?? "/"
        Object.assign(incoming, { originalUrl, baseUrl: "/control", url: originalUrl.slice("/control".length) })
        cp.node(incoming, outgoing)
      }
      await listening(express, async (port) => {
        const { location, path } = await createProject(cp, `http://127.0.0.1:${port}/control/v1/projects`, fetch)
        assert.strictEqual(location, `/control${path}`)
      })
    }))
})

describe("a handler of a control plane that has ended", () => {
  it("a handler for Node answers 503 with a time to come back after the end", async () => {
    const cp = await createControlPlane({ log: "off" })
    await listening(cp.node, async (port) => {
      const url = `http://127.0.0.1:${port}/v1/regions`
      assert.strictEqual((await fetch(url)).status, 401)
      await cp.close()
      const answer = await fetch(url)
      assert.deepStrictEqual([answer.status, answer.headers.get("retry-after")], [503, "1"])
      assert.propertyVal(await answer.json(), "code", "unavailable")
    })
  })
})

describe("a framework around the handler", () => {
  it("paths that are not the API's are passed on, and unknown ones below /v1 are not", () =>
    withControlPlane({}, async ({ node }) => {
      const host: Listener = (incoming, outgoing) => node(incoming, outgoing, () => outgoing.end("the host"))
      await listening(host, async (port) => {
        const text = async (path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).text()
        for (const path of ["/", "/about?v1", "/v2/projects", "/V1/projects", "/.well-known/security.txt"])
          assert.strictEqual(await text(path), "the host")
        for (const path of ["/v1/nothing", "/v1/regions", "/.well-known/jwks.json"])
          assert.notStrictEqual(await text(path), "the host")
      })
    }))

  it("at the root the host answers for its process and its pages, and below a base path the API does", async () => {
    const shared = ["/livez", "/readyz", "/docs", "/docs/problems", "/openapi.json"]
    const hosted =
      (cp: ControlPlane): Listener =>
      (incoming, outgoing) =>
        cp.node(incoming, outgoing, () => outgoing.end("the host"))
    await withControlPlane({}, (cp) =>
      listening(hosted(cp), async (port) => {
        for (const path of shared)
          assert.strictEqual(await (await fetch(`http://127.0.0.1:${port}${path}`)).text(), "the host", path)
      })
    )
    await withControlPlane({ basePath: "/control" }, (cp) =>
      listening(hosted(cp), async (port) => {
        for (const path of shared) {
          const answer = await fetch(`http://127.0.0.1:${port}/control${path}`)
          assert.notStrictEqual(await answer.text(), "the host", path)
        }
      })
    )
    // Without `next` there is no host.
    await withControlPlane({}, ({ node }) =>
      listening(
        (incoming, outgoing) => node(incoming, outgoing),
        async (port) => {
          assert.strictEqual((await fetch(`http://127.0.0.1:${port}/livez`)).status, 200)
        }
      )
    )
  })

  it("a body that the framework has read is read from what it left", () =>
    withControlPlane({}, async ({ node }) => {
      const json: Listener = (incoming, outgoing) => {
        let text = ""
        incoming.on("data", (chunk) => {
          text += chunk
        })
        incoming.on("end", () => {
          Object.assign(incoming, { body: text === "" ? {} : JSON.parse(text) })
          setImmediate(() => node(incoming, outgoing))
        })
      }
      await listening(json, async (port) => {
        const url = `http://127.0.0.1:${port}/v1/auth/exchange`
        assert.strictEqual((await fetch(url, exchange("none"))).status, 401, "it arrived as what it is")
        const empty = await fetch(url, { method: "POST" })
        assert.strictEqual(empty.status, 422, await empty.text())
      })
    }))

  it("a body that is too large is refused, and the connection carries the next request", () =>
    withControlPlane({}, async ({ node }) => {
      await listening(node, async (port) => {
        const large = await fetch(`http://127.0.0.1:${port}/v1/auth/exchange`, exchange("x".repeat(3_000_000)))
        assert.strictEqual(large.status, 413)
        await large.text()
        assert.strictEqual((await fetch(`http://127.0.0.1:${port}/readyz`)).status, 200)
      })
    }))

  it("methods that the Fetch standard does not have are answered like every unknown method", () =>
    withControlPlane({}, async ({ node }) => {
      await listening(node, async (port) => {
        const status = (path: string) =>
          new Promise((done) =>
            request({ host: "127.0.0.1", port, method: "TRACE", path }, (incoming) => {
              incoming.resume()
              done(incoming.statusCode)
            }).end()
          )
        assert.strictEqual(await status("/v1/regions"), 405)
        assert.strictEqual(await status("/v1/nothing"), 404)
      })
    }))
})

describe("the address of a client", () => {
  /** One sign-in a minute for each address. */
  const limits = { rates: { exchange_per_minute: 1 } }
  const forwarded = (address: string) => {
    const sent = exchange("none")
    return new Request("http://localhost/v1/auth/exchange", {
      ...sent,
      headers: { ...sent.headers, "x-forwarded-for": address, "narthex-client-address": address }
    })
  }

  it("a header does not tell the address unless the host reads it", () =>
    withControlPlane({ limits }, async ({ fetch }) => {
      assert.strictEqual((await fetch(forwarded("192.0.2.1"))).status, 401)
      assert.strictEqual((await fetch(forwarded("192.0.2.2"))).status, 429)
    }))

  it("the address is what the host's function says", () =>
    withControlPlane({ limits, clientAddress: ({ headers }) => headers.get("x-forwarded-for") }, async ({ fetch }) => {
      assert.strictEqual((await fetch(forwarded("192.0.2.1"))).status, 401)
      assert.strictEqual((await fetch(forwarded("192.0.2.2"))).status, 401)
      assert.strictEqual((await fetch(forwarded("::ffff:192.0.2.2"))).status, 429)
    }))

  it("a function for the address that throws is an answer of 500, for both handlers", () => {
    const clientAddress = () => {
      throw new Error("no such header")
    }
    return withControlPlane({ clientAddress }, async (cp) => {
      assert.strictEqual((await cp.fetch(new Request("http://host.example/v1/auth/whoami"))).status, 500)
      await listening(cp.node, async (port) => {
        assert.strictEqual((await fetch(`http://127.0.0.1:${port}/v1/auth/whoami`)).status, 500)
      })
    })
  })

  it("the handler for Node takes the address of the socket, and offers it to the host's function", async () => {
    const seen: Array<string | null> = []
    const clientAddress = (_: Request, socketAddress: string | null) => {
      seen.push(socketAddress)
      return socketAddress
    }
    await withControlPlane({ clientAddress }, async ({ node }) => {
      await listening(node, async (port) => {
        await (await fetch(`http://127.0.0.1:${port}/readyz`)).text()
      })
    })
    assert.deepStrictEqual(seen, ["127.0.0.1"])
  })
})

describe("a handler that gets something else than request and response of Node", () => {
  it("a handler refuses what is no request and no response of Node with a sentence that names it", () =>
    withControlPlane({}, async (cp) => {
      // A program without types may pass anything.
      const node = cp.node as (...given: ReadonlyArray<unknown>) => void
      const request = Object.assign(new IncomingMessage(new Socket()), { url: "/v1/regions", method: "GET" })
      const response = new ServerResponse(request)
      const wrongs: ReadonlyArray<readonly [given: ReadonlyArray<unknown>, says: string]> = [
        [[], "request: expected a request of node:http"],
        [[null, response], "request: expected a request of node:http"],
        [[new Request("http://localhost/v1/regions")], "request: expected a request of node:http"],
        [[{ raw: request }, { raw: response }], "request: expected a request of node:http"],
        [[request], "response: expected a response of node:http"],
        [[request, { raw: response }], "response: expected a response of node:http"],
        [[request, request], "response: expected a response of node:http"],
        [[request, response, {}], "next: expected a function"]
      ]
      for (const [given, says] of wrongs) {
        let failure: unknown
        try {
          node(...given)
        } catch (error) {
          failure = error
        }
        assert.isTrue(isNarthexError(failure), `${says}: ${String(failure)}`)
        assert.deepInclude(failure, { code: "invalid_input" })
        assert.isTrue(String(failure).includes(says), `${says}: ${String(failure)}`)
      }
    }))

  it("a function for the client's address that returns no text is a fault of the host: 500, and the log says so", async () => {
    const logged: Array<string> = []
    const promising: object = { clientAddress: async () => "192.0.2.1" }
    const log = (entry: LogEntry) => void logged.push(JSON.stringify(entry))
    await withControlPlane({ ...promising, log }, async ({ fetch }) => {
      const answer = await within("an answer", fetch(new Request("http://localhost/v1/auth/exchange", exchange("x"))))
      assert.strictEqual(answer.status, 500)
    })
    assert.match(logged.join("\n"), /"cause":"[^"]*clientAddress: expected the text of an address or null/)
  })
})
