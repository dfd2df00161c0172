/**
 * The dashboard and the alerts of `deploy`, against a platform that runs (docs/design/settings.md S17): each query is valid, and
 * names only metrics and labels that `/metrics` answers.
 */
import { spawnSync } from "node:child_process"
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { metricCatalog } from "@narthex/server"
import { StreamClient } from "../events/support/StreamClient.ts"
import { until, within } from "../harness/eventually.ts"
import { Agents } from "../mcp/support/Agents.ts"
import { blocksRunBy } from "../support/documentedBlocks.ts"
import { metricsWithoutEntry } from "../support/metricsWithoutEntry.ts"
import { root } from "../support/surroundings.ts"

const hangGuard = 120_000
const rules = join(root, "deploy/prometheus/narthex.rules.yaml")
const ruleTests = join(root, "deploy/prometheus/narthex.rules.test.yaml")

interface Panel {
  readonly title: string
  readonly targets?: ReadonlyArray<{ readonly expr: string }>
}

const dashboard: { readonly panels: ReadonlyArray<Panel> } = JSON.parse(
  readFileSync(join(root, "deploy/grafana/narthex.json"), "utf8")
)

/** The dashboard's queries as Prometheus gets them. */
const queries = dashboard.panels.flatMap(({ targets = [], title }) =>
  targets.map(({ expr }) => ({
    title,
    query: expr.replaceAll("$__rate_interval", "5m").replaceAll("$instance", ".*")
  }))
)

const promtool = (...args: ReadonlyArray<string>) => {
  const { status, stderr, stdout } = spawnSync("promtool", args, { encoding: "utf8" })
  assert.strictEqual(status, 0, `${stdout}\n${stderr}`)
}

const withDirectory = (work: (directory: string) => void) => {
  const directory = mkdtempSync(join(tmpdir(), "narthex-prometheus-"))
  try {
    work(directory)
  } finally {
    rmSync(directory, { recursive: true })
  }
}

/** The expressions of the rules: the text of `expr`, on its line or indented below it. */
const alerts = [
  ...readFileSync(rules, "utf8").matchAll(/alert: (\w+)\n {8}expr: (?:\|\n((?: {10}.*\n)+)|(.*)\n)/g)
].map(([, title = "", block, line]) => ({ title, query: block ?? line ?? "" }))

const ofPrometheus = ["up", "instance", "job", "le"]

describe("the dashboard and the alerts", { timeout: hangGuard }, () => {
  let agents: Agents
  /** The labels of each metric that the platform shows, by its name and by those of its series. */
  const shown = new Map<string, Set<string>>()

  const scrape = async () => {
    const text = await (await fetch(`${agents.platform.ready.admin}/metrics`)).text()
    assert.deepStrictEqual(metricsWithoutEntry(text), [])
    for (const [, series = "", labels = ""] of text.matchAll(/^(\w+)(?:\{(.*)\})? /gm)) {
      const known = shown.get(series) ?? new Set()
      for (const [, label = ""] of labels.matchAll(/(\w+)="/g)) known.add(label)
      shown.set(series, known)
    }
  }

  beforeAll(async () => {
    agents = await Agents.of("monitoring.example.com")
    await agents.project("shop")
    const agent = await agents.http(await agents.key("agent"))
    await agent.asked("run_sql", { project: "shop", branch: "main", sql: "SELECT 1" })
  }, hangGuard)
  afterAll(() => agents.close())

  it("a platform that has served a request, a session and a stream shows every metric of the catalog", async () => {
    const { secret } = await agents.owner.apiKeys.create({ name: "stream", capability: "read" })
    const stream = new StreamClient("/v1/events", secret ?? "", "not an id")
    const opened = Promise.withResolvers<void>()
    const followed = stream.follow(Number(new URL(agents.api).port), opened.resolve)
    await within("the stream to open", opened.promise)
    await agents.project("seen")
    await until("an event", async () => stream.frames.some(({ event }) => event === "operation.updated.v1"))
    stream.drop()
    await followed
    const missing = () =>
      Object.entries(metricCatalog)
        .map(([name, { kind }]) => (kind === "histogram" ? `${name}_count` : name))
        .filter((name) => !shown.has(name))
    await until("every metric to be shown", async () => {
      await scrape()
      return missing().length === 0
    }).catch(() => assert.deepStrictEqual(missing(), []))
  })

  it("every query names only metrics and labels that a running platform shows", async () => {
    await scrape()
    assert.isAbove(alerts.length, 10)
    assert.isAbove(queries.length, 30)
    for (const { query, title } of [...alerts, ...queries]) {
      const names = query.match(/\b(?:narthex|process)_\w+|\bup\b/g) ?? []
      assert.isNotEmpty(names, title)
      for (const name of names.filter((it) => !ofPrometheus.includes(it)))
        assert.isTrue(shown.has(name), `${title} names ${name}`)
      const known = new Set([...ofPrometheus, ...names.flatMap((name) => [...(shown.get(name) ?? [])])])
      const inSelectors = [...query.matchAll(/(\w+)(?:=~|!=|!~|=)"/g)].map(([, label = ""]) => label)
      const grouped = [...query.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, labels = ""]) => labels.split(/,\s*/))
      for (const label of [...inSelectors, ...grouped])
        assert.isTrue(known.has(label), `${title} names the label ${label}`)
    }
  })

  it("the rules are valid and pass their tests", { tags: ["promtool"] }, () => {
    promtool("check", "rules", rules)
    promtool("test", "rules", ruleTests)
  })

  it("the configuration of the page is one of Prometheus", { tags: ["promtool"] }, () =>
    withDirectory((directory) => {
      copyFileSync(rules, join(directory, "narthex.rules.yaml"))
      for (const { text } of blocksRunBy("test/serving/monitoring.test.ts")) {
        const file = join(directory, "prometheus.yaml")
        writeFileSync(file, text)
        promtool("check", "config", file)
      }
    })
  )

  it("every alert has a test that fires it, and says what to do", () => {
    const tests = readFileSync(ruleTests, "utf8")
    for (const { title } of alerts) assert.match(tests, new RegExp(`alertname: ${title}\\n +exp_alerts:`), title)
    const actions = readFileSync(rules, "utf8").match(/^ {10}action: /gm) ?? []
    assert.lengthOf(actions, alerts.length)
  })

  it("every query of the dashboard is one that Prometheus can parse", { tags: ["promtool"] }, () =>
    withDirectory((directory) => {
      const file = join(directory, "queries.json")
      const asRules = queries.map(({ query }, count) => ({ record: `query_${count}`, expr: query }))
      writeFileSync(file, JSON.stringify({ groups: [{ name: "dashboard", rules: asRules }] }))
      promtool("check", "rules", file)
    })
  )
})
