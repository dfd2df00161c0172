/** A client of the organization's stream that stays at one instance, and resumes there whenever its stream ends. */
import { setTimeout as sleep } from "node:timers/promises"
import { type Frame, StreamClient } from "../../events/support/StreamClient.ts"

export const isGap = ({ event }: Pick<Frame, "event">) => event === "resume.gap.v1"

/** Milliseconds before the next connection. */
const pause = 100

export class Follower {
  readonly client: StreamClient
  /** When a frame last came, by `performance.now`. */
  lastAt = 0
  #stopped = false
  readonly #running: Promise<void>

  constructor(port: number, token: string, from: string) {
    this.client = new StreamClient("/v1/events", token, from)
    this.client.onFrame = () => {
      this.lastAt = performance.now()
    }
    this.#running = this.#run(port)
  }

  async #run(port: number) {
    while (!this.#stopped) {
      await this.client.follow(port)
      if (!this.#stopped) await sleep(pause)
    }
  }

  /** Why the server ended its streams. */
  get ends(): ReadonlyArray<string> {
    return this.client.comments.flatMap((comment) => /closing reason=(\w+)/.exec(comment)?.slice(1) ?? [])
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.client.drop()
    await this.#running
  }
}

export interface Verdict {
  /** Events that it had and that the log lost. */
  readonly lost: number
  readonly gaps: number
  readonly wrong: ReadonlyArray<string>
}

/**
 * Compares what came with the log as it is in the end: a gap follows events that were lost, and events that did not come are
 * before the newest event that a gap names. `log`: ids of the organization's visible events.
 */
export const judge = (log: ReadonlyArray<string>, frames: ReadonlyArray<Frame>): Verdict => {
  const kept = new Set(log)
  const came = new Set(frames.map(({ id }) => id))
  const lastGap = frames.findLastIndex(isGap)
  const announced = frames.filter(isGap).reduce((newest, { data }) => {
    const id = String(data["latest_id"])
    return id > newest ? id : newest
  }, "")
  const lost = frames.filter((frame) => !isGap(frame) && !kept.has(frame.id))
  const silent = lost.filter((frame) => frames.indexOf(frame) > lastGap)
  const missing = log.filter((id) => !came.has(id) && id > announced)
  return {
    lost: lost.length,
    gaps: frames.filter(isGap).length,
    wrong: [
      ...silent.map(({ id }) => `${id} was lost, and no gap says so`),
      ...missing.map((id) => `${id} did not come, and no gap says so`)
    ]
  }
}
