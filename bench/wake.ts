/**
 * Time from a connection to the first row of `select 1`, by the clock: through the proxy of a platform whose compute is
 * suspended or runs, and by `postgres` that is started by hand on a copy of the same data directory.
 *
 * `node --conditions=source bench/wake.ts [rounds] [endpoints] [checkout]`, by default `15 20`. The platform is the
 * built program with its embedded store. With another checkout its platform takes turns with this one's. All connect
 * with the same driver and the same role, by SCRAM. `endpoints` wake at once, and as many are started by hand at once.
 */
import { join } from "node:path"
import postgres from "postgres"
import { ratio } from "./ratios.ts"
import { type ByHand, copyOf } from "./wakeByHand.ts"
import { type Platform, type Sleeper, startPlatform } from "./wakePlatform.ts"

const [rounds, endpoints, other] = [Number(process.argv[2] ?? 15), Number(process.argv[3] ?? 20), process.argv[4]]

/**
 * Milliseconds for which a platform is left alone before a wake: the proxy has then reported the end of the last
 * session, as it has for every endpoint that is suspended for being idle.
 */
const quiet = 2_500

const sleep = (milliseconds: number) => new Promise((resume) => setTimeout(resume, milliseconds))

/** Connects, and resolves with the first row. Returns milliseconds. */
const firstRow = async (uri: string, socket?: string): Promise<number> => {
  const begun = performance.now()
  const { password, pathname, username } = new URL(uri)
  const direct = { path: socket ?? "", username, password, database: pathname.slice(1) }
  const sql = postgres(socket === undefined ? uri : "", {
    ...(socket === undefined ? {} : direct),
    max: 1,
    fetch_types: false,
    prepare: false,
    connect_timeout: 60,
    ssl: false
  })
  await sql`select 1`
  const taken = performance.now() - begun
  await sql.end({ timeout: 5 })
  return taken
}

const byHand = async (uri: string, copy: ByHand) => {
  const begun = performance.now()
  await copy.start()
  const ready = performance.now() - begun
  await firstRow(uri, copy.socket)
  return { ready, row: performance.now() - begun }
}

const sorted = (values: ReadonlyArray<number>) => values.toSorted((a, b) => a - b)
const median = (values: ReadonlyArray<number>) => sorted(values)[values.length >> 1] ?? Number.NaN

const measured = new Map<string, Array<number>>()
const note = (name: string, value: number) => {
  measured.set(name, [...(measured.get(name) ?? []), value])
}
const of = (name: string) => measured.get(name) ?? []

interface Side {
  readonly name: string
  readonly platform: Platform
  readonly one: Sleeper
  readonly many: ReadonlyArray<Sleeper>
}

/** Wakes all at once. Notes the time until the last row, and the median. */
const wakeAll = async ({ many, name }: Side) => {
  const begun = performance.now()
  const taken = await Promise.all(many.map(({ uri }) => firstRow(uri)))
  note(`${name}: ${many.length} at once, all`, performance.now() - begun)
  note(`${name}: ${many.length} at once, median`, median(taken))
  await Promise.all(many.map(({ suspend }) => suspend()))
}

const startAll = async (many: ReadonlyArray<Sleeper>, copies: ReadonlyArray<ByHand>) => {
  const begun = performance.now()
  const taken = await Promise.all(copies.map((copy, n) => byHand(many[n]?.uri ?? "", copy)))
  note(`by hand: ${many.length} at once, all`, performance.now() - begun)
  note(`by hand: ${many.length} at once, median`, median(taken.map(({ row }) => row)))
  await Promise.all(copies.map(({ stop }) => stop()))
}

const prepared = async (name: string, checkout: string): Promise<Side> => {
  const platform = await startPlatform(checkout)
  const [one, ...many] = await Promise.all(Array.from({ length: endpoints + 1 }, (_, n) => platform.sleeper(`p${n}`)))
  if (one === undefined) throw new Error("No endpoint was created.")
  for (const { suspend, uri } of [one, ...many]) {
    await firstRow(uri)
    await suspend()
  }
  return { name, platform, one, many }
}

const sides: Array<Side> = []
const copies: Array<ByHand> = []
try {
  sides.push(await prepared("proxy", join(import.meta.dirname, "..")))
  if (other !== undefined) sides.push(await prepared("other checkout", other))
  const [first] = sides
  if (first === undefined) throw new Error("No platform was started.")
  const copy = copyOf(first.one.cluster)
  copies.push(copy)
  for (const { cluster } of first.many) copies.push(copyOf(cluster))

  // Round 0 warms everything up.
  for (let round = 0; round <= rounds; round++) {
    const turns = [
      async () => {
        const { ready, row } = await byHand(first.one.uri, copy)
        note("by hand: ready", ready)
        note("by hand: suspended", row)
        note("by hand: running", await firstRow(first.one.uri, copy.socket))
        await copy.stop()
      },
      ...sides.map(({ name, one }) => async () => {
        note(`${name}: suspended`, await firstRow(one.uri))
        note(`${name}: running`, await firstRow(one.uri))
        await one.suspend()
      })
    ]
    for (const turn of round % 2 === 0 ? turns : turns.toReversed()) {
      await sleep(quiet / turns.length)
      await turn()
    }
    if (round === 0) measured.clear()
  }
  for (let round = 0; endpoints > 0 && round <= Math.min(rounds, 3); round++) {
    for (const side of sides) {
      await sleep(quiet)
      await wakeAll(side)
    }
    await sleep(quiet)
    await startAll(first.many, copies.slice(1))
    if (round === 0) for (const name of measured.keys()) if (name.includes("at once")) measured.delete(name)
  }

  for (const [name, values] of measured) {
    const all = sorted(values)
    const [least, most] = [all[0] ?? Number.NaN, all.at(-1) ?? Number.NaN]
    console.log(
      `${name.padEnd(34)} ${median(all).toFixed(1).padStart(7)} ms  ${least.toFixed(1)} to ${most.toFixed(1)}`
    )
  }
  const compare = (what: string, name: string, side = "proxy") =>
    ratio(`wake/${name}`, ...of(`${side}: ${what}`).map((taken, round) => taken / (of(`by hand: ${what}`)[round] ?? 0)))
  compare("suspended", "suspended-of-by-hand")
  compare("running", "running-of-direct")
  if (endpoints > 0) {
    compare(`${endpoints} at once, all`, "at-once-of-by-hand")
    compare(`${endpoints} at once, median`, "at-once-median-of-by-hand")
  }
  if (other !== undefined) {
    for (const [name, values] of measured) {
      if (!name.startsWith("proxy: ")) continue
      const those = of(name.replace("proxy", "other checkout"))
      const [least, most] = sorted(values.map((taken, round) => taken / (those[round] ?? 0))).filter(
        (_, at, all) => at === 0 || at === all.length - 1
      )
      const half = median(values.map((taken, round) => taken / (those[round] ?? 0)))
      console.log(`${name}, of the other checkout: ${half.toFixed(2)}x (${least?.toFixed(2)} to ${most?.toFixed(2)})`)
    }
    compare("suspended", "other-checkout-suspended-of-by-hand", "other checkout")
  }
} finally {
  for (const { stop } of copies) await stop()
  for (const { remove } of copies) remove()
  await Promise.all(sides.map(({ platform }) => platform.stop()))
}
