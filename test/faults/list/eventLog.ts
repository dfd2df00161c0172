/** The event log in memory. */
import type { FaultsOfFile } from "../runner/Fault.ts"

export const eventLog: ReadonlyArray<FaultsOfFile> = [
  {
    area: "events",
    file: "packages/core/src/events/EventLog.ts",
    tests: ["packages/core/test/events/EventLog.edges.test.ts", "packages/core/test/events/EventLog.test.ts"],
    faults: [
      {
        id: "log-count-up-to",
        find: "else low = middle + 1\n  }\n  return low",
        put: "else low = middle + 1\n  }\n  return high - 1",
        why: "A reader gets exactly what follows its position."
      },
      {
        id: "log-after",
        find: "(event) => event.id > id",
        put: "(event) => event.id >= id",
        why: "A reader does not get the event again that it has."
      },
      {
        id: "log-visible-internal",
        find: "!event.internal && (project",
        put: "(project",
        why: "Internal events are not in the history."
      },
      {
        id: "log-visible-project",
        find: "(project === null || event.project_id === project)",
        put: "(project === null || event.project_id !== project)",
        why: "A project's history has that project's events."
      },
      {
        id: "log-last-of",
        find: "onNone: () => org.trimmed, onSome",
        put: "onNone: () => noEvent, onSome",
        why: "An organization whose events were all trimmed stands where they ended."
      },
      {
        id: "log-clock-back",
        find: "const fresh = now > log.ms",
        put: "const fresh = now !== log.ms",
        why: "Ids rise although the clock goes back."
      },
      {
        id: "log-counter",
        find: "const first = fresh ? 1 : log.c32 + 1",
        put: "const first = 1",
        why: "Ids of one millisecond rise from one commit to the next."
      },
      {
        id: "log-pos",
        find: "pos: log.pos + 1 + index",
        put: "pos: log.pos + index",
        why: "Positions are dense and rise."
      },
      {
        id: "log-head",
        find: "id: added.at(-1)?.id ?? log.id",
        put: "id: added.at(0)?.id ?? log.id",
        why: "The head is the newest event."
      },
      {
        id: "log-trim-keep",
        find: "Math.max(0, Chunk.size(org.events) - keep)",
        put: "Chunk.size(org.events)",
        why: "Trimming keeps the newest events of each organization."
      },
      {
        id: "log-trim-before",
        find: "DateTime.isGreaterThanOrEqualTo(event.at, before)",
        put: "DateTime.isGreaterThan(event.at, before)",
        why: "An event of the very instant is not before it."
      },
      {
        id: "log-trim-both",
        find: "Chunk.take(org.events, Math.min(spare, old))",
        put: "Chunk.take(org.events, Math.max(spare, old))",
        why: "Only events that are both old and spare are trimmed."
      },
      {
        id: "log-trim-floor",
        find: "onSome: ({ id }) => ({ trimmed: id,",
        put: "onSome: () => ({ trimmed: org.trimmed,",
        why: "Trimming raises the organization's floor."
      },
      {
        id: "log-trim-all",
        find: "Chunk.filter(log.events, (event) => event.id > orgOf(next, event.org_id).trimmed)",
        put: "log.events",
        why: "Trimmed events are gone from the whole log too."
      },
      {
        id: "log-tail-limit",
        find: "Chunk.take(Chunk.drop(events, count), limit)",
        put: "Chunk.drop(events, count)",
        why: "The tail is read in parts."
      },
      {
        id: "log-tail-after",
        find: "(event) => event.pos > from)\n",
        put: "(event) => event.pos >= from)\n",
        why: "The tail begins behind the position."
      },
      {
        id: "log-window-newest",
        find: "Chunk.takeRight(events, cap)",
        put: "Chunk.take(events, cap)",
        why: "A window holds the newest events."
      },
      {
        id: "log-window-floor",
        find: "Chunk.last(Chunk.dropRight(events, Math.min(cap, Chunk.size(events))))",
        put: "Chunk.last(events)",
        why: "A window's floor is the newest event that is not in it."
      },
      {
        id: "log-window-trimmed",
        find: "trimmed === noEvent ? Option.none() : Option.some(trimmed)",
        put: "Option.none()",
        why: "A window of everything that is left has the trimmed id as its floor."
      },
      {
        id: "log-between-empty",
        find: "if (from >= upTo) return false",
        put: "",
        why: "Between a position and itself there is nothing."
      },
      {
        id: "log-between-trimmed",
        find: "from < trimmed || Chunk.some",
        put: "Chunk.some",
        why: "Trimmed events count as there."
      },
      {
        id: "log-between-upper",
        find: "event.id <= upTo && visible",
        put: "event.id < upTo && visible",
        why: "The upper end of a range belongs to it."
      },
      {
        id: "log-history-complete",
        find: "complete: range.after >= trimmed",
        put: "complete: range.after > trimmed",
        why: "A history after the newest trimmed event is complete."
      },
      {
        id: "log-history-more",
        find: "more: Chunk.size(found) > limit",
        put: "more: Chunk.size(found) >= limit",
        why: "A page that holds the rest says that there is no more."
      },
      {
        id: "log-history-oldest",
        find: "Chunk.findFirst(events, visible(project))",
        put: "Chunk.findFirst(found, visible(project))",
        why: "The oldest id is that of the scope, wherever the page begins."
      }
    ]
  }
]
