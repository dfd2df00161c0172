/** Attacks without any credential. */
import { once } from "node:events"
import type { Socket } from "node:net"
import { setImmediate } from "node:timers/promises"
import { call } from "../Caller.ts"
import { dial } from "../Session.ts"
import { type Attack, hold, type Means, pause, post } from "./Attack.ts"

/** A name that a role of the platform could have: the proxy asks it for a proof. */
const madeUp = (lane: number, round = 0) => `role_${`${lane}x${round}`.padStart(16, "0")}`

/** A startup packet of protocol 3 for a made-up user, which the proxy routes by the endpoint in `options`. */
const startup = (endpoint: string, user: string) => {
  const pairs = ["user", user, "database", "postgres", "options", `endpoint=${endpoint}`, ""].join("\0")
  const packet = Buffer.alloc(8 + Buffer.byteLength(pairs) + 1)
  packet.writeInt32BE(packet.length, 0)
  packet.writeInt32BE(196_608, 4)
  packet.write(pairs, 8)
  return packet
}

/** Asks for a session at the bystander's endpoint as a made-up user. */
const ask = async ({ victim }: Means, from: string, user: string, stopped: AbortSignal) => {
  const socket = dial(victim.uri, from)
  const connected = once(socket, "connect").catch(() => undefined) // What it broke shows at the answer.
  await Promise.race([connected, once(socket, "close"), pause(hold, stopped)])
  socket.write(startup(victim.endpoint, user))
  return socket
}

/**
 * The answer to a socket that asked, which is closed `held` milliseconds later. R: the proxy asks for a
 * proof. E: the proxy refused.
 */
const answerTo = async (socket: Socket, stopped: AbortSignal, held: (answer: string) => number) => {
  try {
    const answer = await Promise.race([
      once(socket, "data").then(([first]) => `answered ${String(first).charAt(0)}`),
      once(socket, "close").then(() => "closed"),
      pause(hold, stopped).then(() => "waiting")
    ])
    await pause(held(answer), stopped)
    return answer
  } catch {
    await pause(200, stopped)
    return "closed"
  } finally {
    socket.destroy()
  }
}

export const strangers: ReadonlyArray<Attack> = [
  {
    name: "a stranger's sockets at the bystander's endpoint",
    lanes: 110,
    // The proxy may also close without an answer.
    effective: ["answered R", "answered E", "closed"],
    turn: async (means, lane, _round, stopped) => {
      const socket = await ask(means, `127.0.2.${1 + (lane % 100)}`, madeUp(lane), stopped)
      return answerTo(socket, stopped, () => hold)
    }
  },
  {
    name: "a stranger's logins without a pause at the bystander's endpoint",
    lanes: 20,
    effective: ["answered R"],
    turn: async (means, lane, round, stopped) => {
      const socket = await ask(means, `127.0.4.${1 + lane}`, madeUp(lane, round), stopped)
      return answerTo(socket, stopped, (answer) => (answer === "answered R" ? 0 : 50))
    }
  },
  {
    name: "a stranger's connections that wait for no answer",
    lanes: 10,
    effective: ["asked"],
    turn: async (means, lane, round, stopped) => {
      const socket = await ask(means, `127.0.5.${1 + lane}`, madeUp(lane, round), stopped)
      await setImmediate()
      socket.destroy()
      return "asked"
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
