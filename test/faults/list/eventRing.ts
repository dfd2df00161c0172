/** The ring of an organization's newest events. */
import type { FaultsOfFile } from "../runner/Fault.ts"

export const eventRing: ReadonlyArray<FaultsOfFile> = [
  {
    area: "events",
    file: "packages/core/src/events/ring/EventRing.ts",
    tests: [
      "packages/core/test/events/ring/EventRing.bounds.test.ts",
      "packages/core/test/events/ring/EventRing.test.ts",
      "packages/core/test/events/streams/EventBroker.test.ts"
    ],
    faults: [
      {
        id: "ring-append-same-id",
        find: "if (event.id <= this.#lastId) return false",
        put: "if (event.id < this.#lastId) return false",
        why: "An event that the ring has already is ignored."
      },
      {
        id: "ring-append-older",
        find: "if (event.id <= this.#lastId) return false",
        put: "if (event.id === this.#lastId) return false",
        why: "An event older than the newest is ignored."
      },
      {
        id: "ring-no-project-number",
        find: "event.project_id === null ? noProject :",
        put: "event.project_id === null ? 0 :",
        why: "An event without a project is in no project's stream."
      },
      {
        id: "ring-hidden-typed",
        find: 'encoded._tag === "Hidden" ? hidden :',
        put: 'encoded._tag === "Poison" ? hidden :',
        why: "An internal event is hidden, and an unencodable one is not."
      },
      {
        id: "ring-poison-type",
        find: 'encoded._tag === "Poison" ? brokerType : event.type',
        put: "event.type",
        why: "`error.v1` passes a filter of types that does not name it."
      },
      {
        id: "ring-poison-project-wording",
        find: "this.#projectFrames.set(this.#end, encoded.project)",
        put: "this.#projectFrames.set(this.#end, encoded.org)",
        why: "A project's stream gets `error.v1` with the project in it."
      },
      {
        id: "ring-totals-step",
        find: "(types.get(type) ?? 0) + 1",
        put: "(types.get(type) ?? 1) + 1",
        why: "A stream counts itself against the exact number of events."
      },
      {
        id: "ring-events-limit",
        find: "this.#end - this.#first > this.#limits.events",
        put: "this.#end - this.#first >= this.#limits.events",
        why: "A ring keeps as many events as its limit says."
      },
      {
        id: "ring-bytes-limit",
        find: "|| this.#bytes > this.#limits.bytes",
        put: "&& this.#bytes > this.#limits.bytes",
        why: "Either limit of a ring evicts, not only both together."
      },
      {
        id: "ring-bytes-limit-reached",
        find: "this.#bytes > this.#limits.bytes",
        put: "this.#bytes >= this.#limits.bytes",
        why: "A ring keeps events up to its limit of bytes, included."
      },
      {
        id: "ring-filter-shared-order",
        find: "JSON.stringify([project, [...types].sort()])",
        put: "JSON.stringify([project, []])",
        why: "Streams that want other types do not share a filter."
      },
      {
        id: "ring-filter-scope",
        find: "const number = project === null ? anyProject : this.#projectNumber(project)",
        put: "const number = anyProject",
        why: "A project's filter passes that project's events only."
      },
      {
        id: "ring-position-inclusive",
        find: ".isAfter(middle, bytes)) high = middle",
        put: ".isAfter(middle, bytes)) high = middle - 1",
        why: "The position after an id is the first entry with a greater id."
      },
      {
        id: "ring-position-skips",
        find: "else low = middle + 1\n    }\n    return low",
        put: "else low = middle + 1\n    }\n    return low + 1",
        why: "A resumed stream begins with the first event that it lacks."
      },
      {
        id: "ring-id-before",
        find: "this.#at(cursor - 1).id(cursor - 1)",
        put: "this.#at(cursor).id(cursor)",
        why: "The id before a cursor is that of the entry passed last."
      },
      {
        id: "ring-oldest",
        find: "if (filter.passes(segment.project(entry), segment.type(entry))) return segment.id(entry)",
        put: "return segment.id(entry)",
        why: "The oldest event of a scope is one that its streams may see."
      },
      {
        id: "ring-lost-order",
        find: "evicted !== undefined && evicted > position",
        put: "evicted !== undefined && evicted >= position",
        why: "A client that has the newest evicted event has lost nothing."
      },
      {
        id: "ring-lost-scope",
        find: "const number = project === null ? anyProject : this.#projects.get(project)",
        put: "const number = anyProject",
        why: "A project has lost only events of its own."
      },
      {
        id: "ring-lost-floor",
        find: "position >= this.floor ||",
        put: "position > this.floor ||",
        why: "A client that stands at the floor has lost nothing."
      },
      {
        id: "ring-lost-unknown",
        find: "return position >= this.floor || this.lostAfter(project, position)",
        put: "return true",
        why: "Only the log knows what happened below the floor."
      },
      {
        id: "ring-remaining-from",
        find: "Math.max(cursor, this.#first); entry < this.#end; entry++) {\n      const segment = this.#at(entry)\n      if (filter.passes(segment.project(entry), segment.type(entry))) remaining",
        put: "Math.max(cursor + 1, this.#first); entry < this.#end; entry++) {\n      const segment = this.#at(entry)\n      if (filter.passes(segment.project(entry), segment.type(entry))) remaining",
        why: "The entry at the cursor is still to be read."
      },
      {
        id: "ring-bytes-from-end",
        find: "if (cursor >= this.#end) return 0",
        put: "if (cursor >= this.#end) return 1",
        why: "At the end of the ring no bytes wait."
      },
      {
        id: "ring-slice-cursor",
        find: "filter.last?.from === from && filter.last.end",
        put: "filter.last?.end",
        why: "A shared slice is for streams at the same cursor only."
      },
      {
        id: "ring-run-limit",
        find: "segment.start(to + 1) - start <= limit) to += 1",
        put: "segment.start(to) - start <= limit) to += 1",
        why: "A slice is at most as large as its limit."
      },
      {
        id: "ring-run-events",
        find: "segment.visibleBefore(to) - segment.visibleBefore(from)",
        put: "to - from",
        why: "Hidden entries are not counted as delivered."
      },
      {
        id: "ring-picked-limit",
        find: "if (parts.length > 0 && length + part.length > limit) break",
        put: "if (length + part.length > limit) break",
        why: "A slice has at least one event, however large it is."
      },
      {
        id: "ring-picked-wording",
        find: "const projectFrame = filter.project === anyProject ? undefined :",
        put: "const projectFrame = filter.project !== anyProject ? undefined :",
        why: "The organization's streams get `error.v1` without a project, a project's with it."
      },
      {
        id: "ring-picked-skip",
        find: "segment.type(to))) continue\n      const projectFrame",
        put: "segment.type(to))) break\n      const projectFrame",
        why: "A filter skips entries of other types."
      },
      {
        id: "ring-evict-project",
        find: "if (segment.project(entry) !== noProject) this.#evicted.set(segment.project(entry), id)",
        put: "this.#evicted.set(segment.project(entry), this.#lastId)",
        why: "What a project lost is the event that was evicted."
      },
      {
        id: "ring-evict-any",
        find: "this.#evicted.set(anyProject, id)",
        put: "this.#evicted.set(noProject, id)",
        why: "The organization's streams learn that events were evicted."
      },
      {
        id: "ring-evict-hidden",
        find: "if (segment.type(entry) !== hidden) {\n      this.#evicted",
        put: "if (segment.type(entry) === hidden) {\n      this.#evicted",
        why: "An evicted internal event is lost to no client, a visible one is."
      },
      {
        id: "ring-evict-segment",
        find: "oldest.end <= this.#first",
        put: "oldest.end <= this.#first + 1",
        why: "A segment stays while one of its entries is in the ring."
      },
      {
        id: "ring-evict-memory",
        find: "this.#memory -= oldest.memory",
        put: "this.#memory -= 0",
        why: "A ring that gives up a segment takes less memory."
      }
    ]
  }
]
