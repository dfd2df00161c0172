/** `narthex events tail` on a real terminal, while the server stops, restarts, and loses its connections. */
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, afterEach, assert, beforeAll, describe, it } from "@effect/vitest"
import { until } from "../harness/eventually.ts"
import { long } from "../harness/long.ts"
import { Platform } from "../support/Platform.ts"
import { emptyDirectory, ownAccount } from "../support/surroundings.ts"
import { keys } from "../support/Terminal.ts"
import { Front } from "./support/Front.ts"
import { Person } from "./support/Person.ts"

/** Milliseconds. Each wait has a shorter limit and names what it waited for. */
const hangGuard = 600_000

/** The members of an event that the test reads. */
interface Sent {
  readonly id: string
  readonly project_id: string | null
  readonly data: { readonly action: string; readonly status: string }
}

describe("events tail on a terminal", { tags: ["terminal"], timeout: hangGuard }, () => {
  const directory = emptyDirectory(ownAccount)
  let platform: Platform
  let front: Front
  let ada: Person

  beforeAll(async () => {
    platform = await Platform.start(directory.path, ownAccount, {})
    front = await Front.to(platform.ready.api)
    ada = await Person.at(platform, directory.path, "ada@example.com")
  })

  afterEach(() => ada.leave())

  afterAll(async () => {
    await front.close()
    await platform.clear()
    directory.remove()
  })

  const file = () => join(ada.home, "events.jsonl")
  const printed = (): ReadonlyArray<Sent> =>
    existsSync(file())
      ? readFileSync(file(), "utf8")
          .split("\n")
          .slice(0, -1)
          .map((line) => JSON.parse(line))
      : []
  const isOver = (events: ReadonlyArray<Sent>, project: string) =>
    events.some(
      ({ data, project_id }) =>
        project_id === project && data.action === "create_timeline" && data.status === "finished"
    )
  const followed = (project: string) =>
    until(`the events of ${project} to be printed`, () => isOver(printed(), project), { every: 50 })

  /** The whole history, the oldest first. */
  const history = async (): Promise<ReadonlyArray<Sent>> => {
    const answer = await fetch(`${platform.ready.api}/v1/events/history?limit=200`, {
      headers: { authorization: `Bearer ${ada.key}` }
    })
    // The page of the contract; it is never full here.
    const { events } = (await answer.json()) as { readonly events: ReadonlyArray<Sent> }
    return events
  }
  const create = async (name: string) => (await ada.client.projects.create({ name })).project.id

  it("every event is printed once and in order over a cut, a stopped server and a restart, with notes on stderr", async () => {
    const terminal = await ada.types("exec 4>events.jsonl; narthex events tail -o json >&4", {
      columns: 100,
      environment: { NARTHEX_URL: front.url }
    })
    await terminal.shows(/^Following events\. Ctrl-C ends\.$/)
    const projects = [await create("one")]
    await followed(projects[0] ?? "")
    assert.strictEqual(terminal.text, "Following events. Ctrl-C ends.")

    // A reset between two events. The next project begins before the client is back.
    assert.isAbove(front.cut(), 0)
    projects.push(await create("two"))
    await terminal.shows(
      /\nThe (?:connection was cut|stream ended)\. Reconnecting in \d\.\d s\.\n(?:[^\n]+\n)*Reconnected\.$/
    )
    await followed(projects.at(-1) ?? "")

    // A stopped server, with a request on its way; the long form outlasts the silence that the client allows.
    const before = terminal.text
    platform.pause()
    const creating = create("three")
    if (long) await terminal.shows(/The server was silent\. Reconnecting in \d\.\d s\.$/)
    platform.resume()
    projects.push(await creating)
    await followed(projects.at(-1) ?? "")
    if (!long) assert.strictEqual(terminal.text, before)

    // A killed server, and another one on its data.
    await platform.kill()
    await terminal.shows(/Reconnecting in \d+\.\d s\.$/)
    platform = await Platform.start(directory.path, ownAccount, {})
    front.moveTo(platform.ready.api)
    ada = ada.movedTo(platform.ready.api)
    projects.push(await create("four"))
    await followed(projects.at(-1) ?? "")
    await terminal.shows(/\nReconnected\.$/)

    const ofProjects = (events: ReadonlyArray<Sent>) =>
      events.filter(({ project_id }) => projects.includes(project_id ?? "")).map(({ id }) => id)
    assert.deepStrictEqual(ofProjects(printed()), ofProjects(await history()))
    assert.notMatch(terminal.text, /missed|warning|error/)
    terminal.type(keys.ctrlC)
    assert.strictEqual(await terminal.ends(), 130)
  })

  it("a window that changes its size while events are printed shows the later ones in lines that fit", async () => {
    const terminal = await ada.narthex(["events", "tail"], { columns: 120 })
    await terminal.shows(/^Following events\. Ctrl-C ends\.$/)
    for (const columns of [40, 200, 80]) {
      terminal.resize(columns, 30)
      await create(`of-${columns}-columns`)
      const whole = " {2}finished(?: \\d+\\.\\d s)?"
      const rest = columns === 40 ? "create timelin…" : `create timeline(?: \\S+)?${whole}`
      await terminal.shows(new RegExp(`^\\d\\d:\\d\\d:\\d\\d {2}of-${columns}-columns {2}${rest}$`, "m"))
    }
    terminal.type(keys.ctrlC)
    assert.strictEqual(await terminal.ends(), 130)
  })
})
