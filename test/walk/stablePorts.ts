/**
 * Ports that a platform can bind again after it was killed. They are below the range that the kernel uses for outgoing
 * connections and for port 0, so that no other process takes them while the platform is down. No other test gets them
 * either, in this run or another on this machine, until this process ends.
 */
import { randomInt } from "node:crypto"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { createServer, type ListenOptions, type Server } from "node:net"

/** A server that listens there; `undefined` if another one does. */
const listening = async (at: ListenOptions): Promise<Server | undefined> => {
  const server = createServer().listen(at)
  try {
    await once(server, "listening")
    return server
  } catch {
    return undefined
  }
}

/** A name outside the file system (unix(7), "abstract") belongs to one process, and is free again when that ends. */
const reserve = async (port: number): Promise<boolean> => {
  const holder = await listening({ path: `\0narthex-test-port-${port}` })
  holder?.unref()
  return holder !== undefined
}

const isFree = async (port: number): Promise<boolean> => {
  const server = await listening({ port, host: "127.0.0.1" })
  if (server === undefined) return false
  await once(server.close(), "close")
  return true
}

const lowest = 10_000

/** Free ports, not drawn from the test's seed, because two runs with one seed must not draw the same ports. */
export const stablePorts = async (count: number): Promise<ReadonlyArray<number>> => {
  const [first = "32768"] = readFileSync("/proc/sys/net/ipv4/ip_local_port_range", "utf8").split(/\s+/)
  if (Number(first) - lowest < 1_000)
    throw new Error(`Outgoing connections get ports from ${first} on: too few are below.`)
  const ports = new Set<number>()
  for (let tries = 0; ports.size < count; tries++) {
    if (tries > 1_000) throw new Error(`No ${count} ports are free between ${lowest} and ${first}.`)
    const port = randomInt(lowest, Number(first))
    if ((await reserve(port)) && (await isFree(port))) ports.add(port)
  }
  return [...ports]
}
