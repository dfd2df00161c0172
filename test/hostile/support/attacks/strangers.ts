/** Attacks without any credential. */
import { once } from "node:events"
import { call } from "../Caller.ts"
import { dial } from "../Session.ts"
import { type Attack, hold, pause, post } from "./Attack.ts"

/** A startup packet of protocol 3 for a made-up user, which the proxy routes by the endpoint in `options`. */
const startup = (endpoint: string, user: string) => {
  const pairs = ["user", user, "database", "postgres", "options", `endpoint=${endpoint}`, ""].join("\0")
  const packet = Buffer.alloc(8 + Buffer.byteLength(pairs) + 1)
  packet.writeInt32BE(packet.length, 0)
  packet.writeInt32BE(196_608, 4)
  packet.write(pairs, 8)
  return packet
}

export const strangers: ReadonlyArray<Attack> = [
  {
    name: "a stranger's sockets at the bystander's endpoint",
    lanes: 110,
    // R: the compute was reached and asks for a password. E: the proxy refused, and closed: without an answer.
    effective: ["answered R", "answered E", "closed"],
    turn: async ({ victim }, lane, _round, stopped) => {
      const socket = dial(victim.uri, `127.0.2.${1 + (lane % 100)}`)
      try {
        await Promise.race([once(socket, "connect"), once(socket, "close"), pause(hold, stopped)])
        socket.write(startup(victim.endpoint, `stranger_${lane}`))
        const answer = await Promise.race([
          once(socket, "data").then(([first]) => `answered ${String(first).charAt(0)}`),
          once(socket, "close").then(() => "closed"),
          pause(hold, stopped).then(() => "waiting")
        ])
        await pause(hold, stopped)
        return answer
      } catch {
        await pause(200, stopped)
        return "closed"
      } finally {
        socket.destroy()
      }
    }
  },
  {
    name: "a stranger's tokens",
    lanes: 4,
    effective: ["401"],
    turn: async ({ stranger }, lane, round) => {
      const token = `nsk_${lane}${round}`.padEnd(52, "x")
      return String((await call({ ...stranger, token }, "GET", "/v1/projects")).status)
    }
  },
  {
    name: "a stranger's sign-ins",
    lanes: 2,
    effective: ["401"],
    turn: ({ stranger }, _lane, _round, stopped) =>
      post(stranger, "/v1/auth/exchange", { id_token: "e30.e30.e30" }, stopped)
  }
]
