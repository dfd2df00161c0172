/**
 * Ports that a platform can have again after it was killed: below those that the kernel gives to outgoing connections and
 * to whatever listens on port 0, so that nothing takes them while the platform is down.
 */
import { randomInt } from "node:crypto"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { createServer } from "node:net"

const isFree = async (port: number): Promise<boolean> => {
  const server = createServer().listen(port, "127.0.0.1")
  try {
    await once(server, "listening")
  } catch {
    return false
  }
  await once(server.close(), "close")
  return true
}

const lowest = 10_000

/** So many that are free now. Drawn from the machine's own chance: two runs with the same seed must not draw the same. */
export const stablePorts = async (count: number): Promise<ReadonlyArray<number>> => {
  const [first = "32768"] = readFileSync("/proc/sys/net/ipv4/ip_local_port_range", "utf8").split(/\s+/)
  if (Number(first) - lowest < 1_000)
    throw new Error(`Outgoing connections get ports from ${first} on: too few are below.`)
  const ports = new Set<number>()
  for (let tries = 0; ports.size < count; tries++) {
    if (tries > 1_000) throw new Error(`No ${count} ports are free between ${lowest} and ${first}.`)
    const port = randomInt(lowest, Number(first))
    if (await isFree(port)) ports.add(port)
  }
  return [...ports]
}
