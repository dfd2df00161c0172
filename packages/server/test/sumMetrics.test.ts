import { assert, describe, it } from "@effect/vitest"
import { cumulative, sumMetrics } from "../src/sumMetrics.ts"

const text = (events: number, connections: number, below: number) => `# HELP events_total Connections.
# TYPE events_total counter
events_total{event="accepted"} ${events}
# TYPE connections gauge
connections ${connections}
# TYPE seconds histogram
seconds_bucket{le="1"} ${below}
seconds_bucket{le="+Inf"} ${below + 1}
seconds_sum ${below / 2}
seconds_count ${below + 1}
`

describe("sums of metrics", () => {
  it("counters, gauges and histograms of several processes are summed by their labels", () => {
    assert.strictEqual(
      sumMetrics([text(1, 10, 2), text(2, 20, 4)]),
      text(3, 30, 6).replace('"+Inf"} 7', '"+Inf"} 8').replace("count 7", "count 8")
    )
  })

  it("the greatest of the starts and the delays of several processes is kept", () => {
    const of = (value: number) =>
      `# TYPE process_start_time_seconds gauge\nprocess_start_time_seconds ${value}\n# TYPE narthex_event_loop_delay_seconds gauge\nnarthex_event_loop_delay_seconds{quantile="1"} ${value}\n`
    assert.strictEqual(sumMetrics([of(2), of(5), of(3)]), of(5))
  })

  it("one text is what it was, and a sample that others do not have stays", () => {
    const other = '# TYPE events_total counter\nevents_total{event="refused"} 5\n'
    assert.strictEqual(sumMetrics(["", text(1, 10, 2)]), text(1, 10, 2))
    assert.include(
      sumMetrics([text(1, 10, 2), other]),
      'events_total{event="accepted"} 1\nevents_total{event="refused"} 5\n'
    )
  })

  it("the counters and histograms of an ended process remain, and its gauges do not", () => {
    const kept = cumulative(text(1, 10, 2))
    assert.include(kept, "events_total")
    assert.include(kept, "seconds_sum 1\n")
    assert.notInclude(kept, "connections")
  })

  it("values without a number are written as Prometheus reads them", () => {
    const odd = "# TYPE odd gauge\nodd +Inf\nodder -Inf\noddest NaN\n"
    assert.strictEqual(sumMetrics([odd]), odd)
  })
})
