/**
 * Ports that a platform can bind again after it was killed. They are below the range that the kernel uses for outgoing
 * connections and for port 0, so that no other process takes them while the platform is down.
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

/**
 * This many free ports. Not drawn from the test's seed, because two runs with one seed must not draw the same ports.
 */
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
