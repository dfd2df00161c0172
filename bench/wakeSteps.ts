/**
 * Where the time of a wake goes: the spans of the platform between a connection to a suspended endpoint and its first row.
 *
 * `node --conditions=source bench/wakeSteps.ts [wakes] [checkout]`, by default 7 and this one. For each span: when it began, in milliseconds after
 * the connection, and how long it took; medians. Tracing costs time itself, so the sum is more than `bench/wake.ts` measures.
 */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import postgres from "postgres"
import { startPlatform } from "./wakePlatform.ts"

const [wakes, checkout] = [Number(process.argv[2] ?? 7), process.argv[3] ?? join(import.meta.dirname, "..")]

interface Attribute {
  readonly key: string
  readonly value: { readonly stringValue?: string }
}

/** A span of OTLP as JSON, as far as it is used. */
interface Span {
  readonly name: string
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: ReadonlyArray<Attribute>
}

interface Traces {
  readonly resourceSpans: ReadonlyArray<{ readonly scopeSpans: ReadonlyArray<{ readonly spans: ReadonlyArray<Span> }> }>
}

const spans: Array<Span> = []
const collector = createServer((request, response) => {
  let body = ""
  request.setEncoding("utf8").on("data", (text: string) => {
    body += text
  })
  request.on("end", () => {
    if (request.url === "/v1/traces") {
      const { resourceSpans } = JSON.parse(body) as Traces // what the platform's exporter sends
      spans.push(...resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)))
    }
    response.end("{}")
  })
})
await new Promise<void>((resume) => collector.listen(0, "127.0.0.1", resume))
// A TCP server has this type of address.
const { port } = collector.address() as AddressInfo

const sleep = (milliseconds: number) => new Promise((resume) => setTimeout(resume, milliseconds))
const median = (values: ReadonlyArray<number>) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0
const clock = () => performance.timeOrigin + performance.now()
const nameOf = ({ attributes, name }: Span) =>
  attributes.find(({ key }) => key === "operation")?.value.stringValue ?? name

const platform = await startPlatform(checkout, { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` })
try {
  const { suspend, uri } = await platform.sleeper("steps")
  const rows = new Map<string, Array<{ readonly began: number; readonly took: number }>>()
  for (let wake = 0; wake <= wakes; wake++) {
    await sleep(2_500)
    const begun = clock()
    const sql = postgres(uri, { max: 1, fetch_types: false, prepare: false, ssl: false })
    await sql`select 1`
    const ended = clock()
    await sql.end({ timeout: 5 })
    await sleep(6_000) // The exporter sends each five seconds.
    const seen = new Map<string, number>()
    for (const span of spans.toSorted((a, b) => Number(BigInt(a.startTimeUnixNano) - BigInt(b.startTimeUnixNano)))) {
      const [began, over] = [Number(span.startTimeUnixNano) / 1e6, Number(span.endTimeUnixNano) / 1e6]
      if (began < begun || began > ended) continue
      const count = (seen.get(nameOf(span)) ?? 0) + 1
      seen.set(nameOf(span), count)
      const name = count === 1 ? nameOf(span) : `${nameOf(span)} ${count}`
      if (wake > 0) rows.set(name, [...(rows.get(name) ?? []), { began: began - begun, took: over - began }])
    }
    if (wake > 0) rows.set("first row", [...(rows.get("first row") ?? []), { began: 0, took: ended - begun }])
    await suspend()
  }
  const table = [...rows].filter(([, all]) => all.length > wakes / 2)
  const began = (all: ReadonlyArray<{ readonly began: number }>) => median(all.map((it) => it.began))
  for (const [name, all] of table.toSorted(([, a], [, b]) => began(a) - began(b)))
    console.log(
      `${began(all).toFixed(1).padStart(7)} ${median(all.map(({ took }) => took))
        .toFixed(1)
        .padStart(7)}  ${name}`
    )
} finally {
  await platform.stop()
  collector.close()
}
