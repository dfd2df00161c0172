/**
 * The relay against two limits in the same run: Postgres without it, and a minimal pipe in Node.
 *
 * `node --conditions=source bench/proxy.ts [seconds] [rounds]`. Rounds alternate; the results are medians of ratios.
 * CPU is pgbench, the backends and this process together; "relay" is this process alone. The bare pipe parses no
 * messages and checks nothing.
 */
import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { type AddressInfo, connect, createServer } from "node:net"
import { join } from "node:path"
import { promisify } from "node:util"
import { Proxy } from "@narthex/proxy"
import { Effect, Layer, Logger } from "effect"
import { binaries, controlPlane, endpoint_id, startCluster } from "./proxyCluster.ts"
import { ratio } from "./ratios.ts"

const [seconds, rounds] = [Number(process.argv[2] ?? 4), Number(process.argv[3] ?? 3)]
const run = promisify(execFile)
const bin = binaries()

interface Measured {
  readonly tps: number
  /** Microseconds of CPU per transaction. */
  readonly cpu: number
  readonly relay: number
}

/** CPU time of the terminated children of a process, in milliseconds. */
const children = (pid: number | "self") => {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? []
  return (Number(fields[13]) + Number(fields[14])) * 10
}

const backends = (pid: number) => readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").length

const own = () => {
  const { system, user } = process.cpuUsage()
  return (system + user) / 1_000
}

const measure = async (postmaster: number, connection: string, flags: ReadonlyArray<string>): Promise<Measured> => {
  const running = backends(postmaster)
  const before = [own(), children("self"), children(postmaster)]
  const args = ["-n", "-S", "-M", "prepared", "-c", "8", "-T", String(seconds), ...flags, connection]
  const { stdout } = await run(join(bin, "pgbench"), args)
  // The CPU time of a backend is counted after its postmaster has reaped it.
  while (backends(postmaster) > running) await new Promise((resume) => setTimeout(resume, 5))
  const [relay = 0, client = 0, server = 0] = [own(), children("self"), children(postmaster)].map(
    (value, index) => value - (before[index] ?? 0)
  )
  const tps = Number(/tps = ([\d.]+)/.exec(stdout)?.[1])
  const transactions = Number(/transactions actually processed: (\d+)/.exec(stdout)?.[1])
  return { tps, cpu: ((relay + client + server) * 1_000) / transactions, relay: (relay * 1_000) / transactions }
}

const median = (values: ReadonlyArray<number>) => [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0

const barePipe = (address: string) =>
  createServer({ noDelay: true }, (client) => {
    const server = connect(address)
    client.pipe(server)
    server.pipe(client)
    client.on("error", () => server.destroy())
    server.on("error", () => client.destroy())
  })

const bench = async (name: string, ways: Record<string, () => Promise<Measured>>) => {
  const results = new Map<string, Array<Measured>>()
  for (let round = 0; round < rounds; round++)
    for (const [way, once] of Object.entries(ways)) results.set(way, [...(results.get(way) ?? []), await once()])
  const of = (way: string) => {
    const all = results.get(way) ?? []
    return {
      tps: median(all.map((it) => it.tps)),
      cpu: median(all.map((it) => it.cpu)),
      relay: median(all.map((it) => it.relay))
    }
  }
  const direct = of("direct")
  for (const way of results.keys()) {
    const { cpu, relay, tps } = of(way)
    const ratios = `tps ${(tps / direct.tps).toFixed(2)}x, CPU ${(cpu / direct.cpu).toFixed(2)}x of direct`
    const absolutes = `${Math.round(tps)} tps, ${cpu.toFixed(0)} us CPU, of it relay ${way === "direct" ? 0 : relay.toFixed(1)} us`
    process.stdout.write(`${name.padEnd(24)} ${way.padEnd(10)} ${ratios}  (${absolutes} a transaction)\n`)
  }
  const cost = of("proxy").relay / of("bare pipe").relay
  ratio(`proxy/${name.replaceAll(" ", "-")}-of-bare-pipe`, cost)
}

const program = Effect.gen(function* () {
  const cluster = yield* Effect.acquireRelease(
    Effect.promise(() => startCluster(bin)),
    ({ stop }) => Effect.promise(stop)
  )
  const layer = Proxy.layer({ host: "127.0.0.1", port: 0, domain: "localhost" }).pipe(
    Layer.provide(controlPlane(cluster.address)),
    Layer.provide(Logger.layer([]))
  )
  const { port } = yield* Effect.flatMap(Layer.build(layer), (services) => Effect.provideContext(Proxy, services))
  const pipe = yield* Effect.acquireRelease(
    Effect.callback<ReturnType<typeof barePipe>>((resume) => {
      const server = barePipe(cluster.address).listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) => Effect.sync(() => server.close())
  )
  const through = (to: number) => `host=127.0.0.1 port=${to} user=app dbname=postgres sslmode=disable`
  const direct = `host=${cluster.socket} user=app dbname=postgres`
  // A TCP server has this type of address.
  const bare = through((pipe.address() as AddressInfo).port)
  const proxied = `${through(port)} options='endpoint=${endpoint_id}'`
  yield* Effect.promise(async () => {
    await run(join(bin, "pgbench"), ["-i", "-q", "-s", "1", direct])
    for (const [name, flags] of [
      ["8 sessions", []],
      ["a connection each", ["-C"]]
    ] as const)
      await bench(name, {
        direct: () => measure(cluster.pid, direct, flags),
        "bare pipe": () => measure(cluster.pid, bare, flags),
        proxy: () => measure(cluster.pid, proxied, flags)
      })
  })
})

await Effect.runPromise(Effect.scoped(program))
