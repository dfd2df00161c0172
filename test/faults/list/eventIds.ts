/** Where a stream starts: ids, positions and bytes. */
import type { FaultsOfFile } from "../runner/Fault.ts"

export const eventIds: ReadonlyArray<FaultsOfFile> = [
  {
    area: "events",
    file: "packages/core/src/events/streams/Resume.ts",
    tests: [
      "packages/core/test/events/streams/EventStreams.test.ts",
      "packages/core/test/events/streams/EventStreams.behind.test.ts",
      "packages/core/test/events/ring/EventRing.test.ts"
    ],
    faults: [
      {
        id: "open-ahead-refresh",
        find: "yield* Effect.timeoutOption(feed.refresh, freshness)\n",
        put: "",
        why: "An instance that is behind its client catches up first."
      },
      {
        id: "open-ahead-log",
        find: "const ahead = position > ring.lastId && position > (yield* log.headOf(org_id))",
        put: "const ahead = position > ring.lastId",
        why: "Only a position beyond the log's own head is a gap."
      },
      {
        id: "open-lost-log",
        find: "lost: yield* log.scopeHasBetween(org_id, project_id, position, ring.floor)",
        put: "lost: true",
        why: "Below the ring the log says whether anything was lost."
      },
      {
        id: "open-lost-scope",
        find: "log.scopeHasBetween(org_id, project_id, position, ring.floor)",
        put: "log.scopeHasBetween(org_id, null, position, ring.floor)",
        why: "A project's stream has no gap for what happened elsewhere."
      },
      {
        id: "resume-malformed",
        find: 'if (last._tag === "Malformed") return { _tag: "Gap", reason: "malformed", last_event_id: null }',
        put: 'if (last._tag === "Malformed") return { _tag: "Live" }',
        why: "A client whose position cannot be read learns that there is a gap."
      },
      {
        id: "resume-ahead",
        find: "position > ring.lastId && findings.ahead",
        put: "position > ring.lastId && !findings.ahead",
        why: "A position beyond the log's head is a gap, one beyond this instance is not."
      },
      {
        id: "resume-lost",
        find: "findings.lost || ring.lostAfter(project, position)",
        put: "findings.lost || !ring.lostAfter(project, position)",
        why: "A client that lost events gets a gap."
      },
      {
        id: "resume-lost-unknown",
        find: "findings.lost || ring.lostAfter",
        put: "ring.lostAfter",
        why: "Below the ring's floor the log decides whether there is a gap."
      },
      {
        id: "resume-lost-always",
        find: "findings.lost || ring.lostAfter",
        put: "!ring.knowsLossAfter(project, position) || ring.lostAfter",
        why: "A client below the floor of a ring that lost nothing resumes without a gap."
      },
      {
        id: "resume-last-event-id",
        find: 'reason: "too_old", last_event_id }',
        put: 'reason: "too_old", last_event_id: null }',
        why: "A gap names the position that the client sent."
      }
    ]
  },
  {
    area: "events",
    file: "packages/core/src/events/EventId.ts",
    tests: ["packages/core/test/events/EventId.test.ts"],
    faults: [
      {
        id: "id-counter",
        find: "view.setUint32(11, c32)",
        put: "view.setUint32(11, c32 >>> 1)",
        why: "Each event of a millisecond has an id of its own."
      },
      {
        id: "id-millis",
        find: "view.setUint16(0, Math.floor(ms / 2 ** 32))",
        put: "view.setUint16(0, 0)",
        why: "Ids rise over the whole range of time."
      },
      {
        id: "id-random-high",
        find: "view.setUint8(6, Math.floor(r40 / 2 ** 32))",
        put: "view.setUint8(6, 0)",
        why: "An id has all 40 random bits."
      },
      {
        id: "id-position",
        find: "withLow(id, 0)",
        put: "withLow(id, 1)",
        why: "A control id stands for the real event before it."
      },
      {
        id: "id-gap-mark",
        find: "withLow(head, gapMark)",
        put: "withLow(head, 0)",
        why: "A gap's id stands behind the head and before the next event."
      },
      {
        id: "id-overflow-mark",
        find: "withLow(head, overflowMark)",
        put: "withLow(head, gapMark)",
        why: "The ids of an overflow and of a gap differ."
      },
      {
        id: "id-empty-header",
        find: 'header === undefined || header === ""',
        put: "header === undefined",
        why: "An empty Last-Event-ID means a live stream."
      },
      {
        id: "id-upper-case",
        find: "const last_event_id = header.toUpperCase()",
        put: "const last_event_id = header",
        why: "An id in lower case stands for the same position."
      },
      {
        id: "id-frame-position",
        find: "position: eventPosition(last_event_id) }",
        put: "position: last_event_id }",
        why: "A client that comes back with the id of a broker frame resumes at the event before it."
      },
      {
        id: "id-first-character",
        find: "/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/i",
        put: "/^[0-9A-HJKMNP-TV-Z]{26}$/i",
        why: "A text of more than 128 bits is not an id."
      },
      {
        id: "id-letters",
        find: "[0-9A-HJKMNP-TV-Z]{25}",
        put: "[0-9A-Z]{25}",
        why: "I, L, O and U are in no id."
      },
      {
        id: "id-uuid",
        find: "hex.slice(16, 20), hex.slice(20)",
        put: "hex.slice(16, 20), hex.slice(16, 28)",
        why: "A UUID carries the id's own bytes."
      }
    ]
  },
  {
    area: "events",
    file: "packages/core/src/events/ring/SseBytes.ts",
    tests: ["packages/core/test/events/ring/SseBytes.test.ts"],
    faults: [
      {
        id: "bytes-hex",
        find: "value + (value < 10 ? 48 : 87)",
        put: "value + (value <= 10 ? 48 : 87)",
        why: "A chunk's size is hexadecimal."
      },
      {
        id: "bytes-start",
        find: "bytes.subarray(start, sizeLine + length + lineEnd)",
        put: "bytes.subarray(start, sizeLine + length)",
        why: "A chunk ends with a line end."
      },
      {
        id: "bytes-shared",
        find: ".slice()\n    return this.#chunked",
        put: "\n    return this.#chunked",
        why: "Bytes that were handed out do not change when more text is encoded."
      },
      {
        id: "bytes-long-text",
        find: "const longest = sizeLine + 3 * text.length + lineEnd",
        put: "const longest = sizeLine + text.length + lineEnd",
        why: "Text of several bytes a character is encoded as a whole."
      },
      {
        id: "bytes-unchunk",
        find: "at = end + lineEnd + size + lineEnd",
        put: "at = end + lineEnd + size",
        why: "The payload of several chunks is free of their framing."
      }
    ]
  }
]
