// biome-ignore-all lint/suspicious/noTemplateCurlyInString: pieces of source text are no templates
/** One stream of events. */
import type { FaultsOfFile } from "../runner/Fault.ts"

export const eventStream: ReadonlyArray<FaultsOfFile> = [
  {
    area: "events",
    file: "packages/core/src/events/streams/EventStream.ts",
    tests: [
      "packages/core/test/events/streams/EventBroker.positions.test.ts",
      "packages/core/test/events/streams/EventBroker.test.ts",
      "packages/core/test/events/streams/EventBroker.ends.test.ts",
      "packages/core/test/events/streams/EventStreams.test.ts"
    ],
    faults: [
      {
        id: "stream-expiry",
        find: "expiry - millis.expiry_margin < age",
        put: "expiry - millis.expiry_margin > age",
        why: "A stream ends at the earlier of its credential's end and its greatest age."
      },
      {
        id: "stream-expiry-margin",
        find: "{ at: expiry - millis.expiry_margin, reason",
        put: "{ at: expiry, reason",
        why: "A stream ends a little before its credential."
      },
      {
        id: "stream-live-cursor",
        find: 'start._tag === "After" ? ring.cursorAfter(start.position) : ring.end',
        put: 'ring.cursorAfter(start._tag === "After" ? start.position : ring.floor)',
        why: "A live stream begins with what happens next."
      },
      {
        id: "stream-pump-deadline",
        find: "if (budget.now >= this.#deadline.at) return this.end(this.#deadline.reason)",
        put: "",
        why: "An event after a stream's deadline does not reach it."
      },
      {
        id: "stream-ahead",
        find: "if (this.#ahead) this.#skip()",
        put: "",
        why: "A client that is ahead of this instance does not get again what it has."
      },
      {
        id: "stream-too-far",
        find: "if (this.#tooFarBehind()) return this.overflow()",
        put: "",
        why: "A reader that fell off the ring ends with an overflow."
      },
      {
        id: "stream-passed",
        find: "this.#passed += slice.events",
        put: "",
        why: "An overflow says exactly how many events were missed."
      },
      {
        id: "stream-settle",
        find: "if (this.#cursor === this.#ring.end) this.#settle()",
        put: "",
        why: "A replay that has caught up gives its turn back."
      },
      {
        id: "stream-destroy",
        find: "if (now < this.#destroyAt) return this.#destroyAt",
        put: "",
        why: "An ended stream may send its last bytes."
      },
      {
        id: "stream-stall",
        find: "blocked >= this.#host.millis.stall) this.overflow()",
        put: "blocked >= this.#host.millis.stall) this.#settle()",
        why: "A reader that takes nothing for too long is dropped."
      },
      {
        id: "stream-patience",
        find: "blocked >= this.#host.millis.replay_patience) this.#settle()",
        put: "blocked >= this.#host.millis.stall) this.#settle()",
        why: "A blocked replay gives its turn back after a while."
      },
      {
        id: "stream-end-twice",
        find: "end(reason: EndReason, retryMillis?: number) {\n    if (this.#ended !== undefined) return",
        put: "end(reason: EndReason, retryMillis?: number) {",
        why: "A stream ends once, for one reason."
      },
      {
        id: "stream-end-mark",
        find: "this.#bookmarks ? `${this.#mark}${retry",
        put: "this.#bookmarks ? `${retry",
        why: "A relay learns its position when its stream ends."
      },
      {
        id: "stream-mark-lost",
        find: 'this.#cursor < this.#ring.first ? "" : bookmark',
        put: "bookmark",
        why: "A bookmark never moves a client past what it lost."
      },
      {
        id: "stream-position",
        find: "passed > this.#least ? passed : this.#least",
        put: "passed",
        why: "A client's position never goes back."
      },
      {
        id: "stream-gap-frame",
        find: "      this.#write(resumeGapFrame(this.#scope, instant(this.#host), gap))\n",
        put: "",
        why: "A client that lost events gets a gap."
      },
      {
        id: "stream-gap-after",
        find: "this.#least = resumeGapId(latest_id)",
        put: "this.#least = latest_id",
        why: "After a gap the client stands behind the head, at the gap's own id."
      },
      {
        id: "stream-lag-events",
        find: "this.#ring.end - this.#cursor > max_lag_events",
        put: "this.#ring.end - this.#cursor >= max_lag_events",
        why: "A blocked reader may be as many events behind as the limit says."
      },
      {
        id: "stream-lag-bytes",
        find: '(max_lag_bytes !== "ring" && this.#ring.bytesFrom(this.#cursor) > max_lag_bytes)',
        put: "false",
        why: "A blocked reader that is too many bytes behind is dropped."
      },
      {
        id: "stream-beat-moved",
        find: "this.#bookmarks && this.#bookmarked !== this.#cursor",
        put: "this.#bookmarks && this.#bookmarked === this.#cursor",
        why: "A heartbeat carries a bookmark when the position has moved."
      },
      {
        id: "stream-blocked",
        find: "if (this.#sink.write(bytes) || this.#blockedSince !== undefined) return",
        put: "return void this.#sink.write(bytes)",
        why: "A full connection gets nothing more until it drains."
      },
      {
        id: "stream-release",
        find: "    this.#ring.release(this.#filter)\n",
        put: "",
        why: "An ended stream releases its filter."
      },
      {
        id: "stream-gone-callback",
        find: "for (const callback of waiting) callback(this.#ended)",
        put: "",
        why: "Waiters for a stream's end learn of it."
      }
    ]
  }
]
