/** The end of kept connections when a server closes. */
import { once } from "node:events"
import { Agent, get, type IncomingMessage, type ServerResponse } from "node:http"
import { type AddressInfo, connect } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { within } from "../../../test/harness/eventually.ts"
import { ClosingServer } from "../src/ClosingServer.ts"

const serving = async () => {
  const server = new ClosingServer()
  // Node alone would close idle connections after five seconds.
  server.keepAliveTimeout = 0
  const requests: Array<ServerResponse> = []
  server.on("request", (_, response) => requests.push(response))
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  // The list of addresses of a listening server has one form.
  const { port } = server.address() as AddressInfo
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const ask = async (): Promise<IncomingMessage> => {
    const [answer] = await once(get({ host: "127.0.0.1", port, agent }), "response")
    answer.resume()
    return answer
  }
  /** The answer that waits, once its request has arrived. */
  const arrived = async (): Promise<ServerResponse> => {
    if (requests.length === 0) await once(server, "request")
    const response = requests.shift()
    if (response === undefined) throw new Error("The request has arrived.")
    return response
  }
  const closed = () => new Promise<void>((done) => server.close(() => done()))
  return { agent, arrived, ask, closed, server }
}

describe("a server behind a load balancer", () => {
  it("keeps an idle connection for longer than ten minutes", async () => {
    const server = new ClosingServer({ requestTimeout: 60_000 })
    server.on("request", (_, response) => response.end())
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    // The list of addresses of a listening server has one form.
    const { port } = server.address() as AddressInfo
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const [answer] = await once(get({ host: "127.0.0.1", port, agent }), "response")
    answer.resume()
    assert.strictEqual(answer.headers["keep-alive"], "timeout=620")
    agent.destroy()
    await new Promise<void>((done) => server.close(() => done()))
  })
})

describe("a server that closes", () => {
  it("answers the request in flight, says that the connection ends, and has closed when it is answered", async () => {
    const { agent, arrived, ask, closed } = await serving()
    const asked = ask()
    const response = await arrived()
    const end = closed()
    response.end("answered")
    assert.strictEqual((await asked).headers.connection, "close")
    await within("the server to close", end)
    agent.destroy()
  })

  it("closes a connection whose answer had begun when idle ones were closed", async () => {
    const { agent, arrived, ask, closed, server } = await serving()
    const asked = ask()
    const response = await arrived()
    response.writeHead(200).write("begun")
    const answer = await asked
    assert.strictEqual(answer.headers.connection, "keep-alive")
    const closing = server.closeIdleConnections.bind(server)
    const idleClosed = new Promise<void>((done) => {
      server.closeIdleConnections = () => {
        closing()
        done()
      }
    })
    const end = closed()
    await within("idle connections to be closed", idleClosed)
    response.end("answered")
    await within("the server to close", end)
    agent.destroy()
  })

  it("answers a request that arrived before the end and was not read yet", async () => {
    const { arrived, closed, server } = await serving()
    const { port } = server.address() as AddressInfo
    const socket = connect(port, "127.0.0.1")
    const request = "GET / HTTP/1.1\r\nhost: here\r\n\r\n"
    socket.write(request)
    const first = await arrived()
    first.end("first")
    await once(socket, "data")
    let answer = ""
    socket.setEncoding("utf8").on("data", (text: string) => {
      answer += text
    })
    // In one turn: the server has not read the request when it closes.
    socket.write(request)
    const end = closed()
    const second = await arrived()
    second.end("second")
    await within("the connection to end", once(socket, "close"))
    assert.match(answer, /^HTTP\/1.1 200 OK\r\n.*connection: close\r\n.*second/is)
    await within("the server to close", end)
  })

  it("closes at once without connections, and soon with one that no request came from", async () => {
    const none = await serving()
    await within("the server to close", none.closed())
    const idle = await serving()
    const socket = connect((idle.server.address() as AddressInfo).port, "127.0.0.1")
    await once(idle.server, "connection")
    await within("the server to close", idle.closed())
    socket.destroy()
  })

  it("keeps connections while it is open", async () => {
    const { agent, arrived, ask, closed, server } = await serving()
    for (const turn of [1, 2]) {
      const asked = ask()
      const response = await arrived()
      response.end(`answer ${turn}`)
      const answer = await asked
      assert.strictEqual(answer.headers.connection, "keep-alive")
      await once(answer, "end")
    }
    const connections = await new Promise((done) => server.getConnections((_, count) => done(count)))
    assert.strictEqual(connections, 1)
    await within("the server to close", closed())
    agent.destroy()
  })
})
