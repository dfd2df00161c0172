// biome-ignore-all lint/suspicious/noTemplateCurlyInString: pieces of source text are no templates
/** Frames of events, and the limits of streams. */
import type { FaultsOfFile } from "../runner/Fault.ts"

export const eventFrames: ReadonlyArray<FaultsOfFile> = [
  {
    area: "events",
    file: "packages/core/src/events/ring/SseFrame.ts",
    tests: [
      "packages/core/test/events/ring/SseFrame.gaps.test.ts",
      "packages/core/test/events/ring/SseFrame.test.ts",
      "packages/core/test/events/streams/EventBroker.test.ts"
    ],
    faults: [
      {
        id: "frame-internal",
        find: 'if (event.internal) return { _tag: "Hidden" }',
        put: 'if (!event.internal) return { _tag: "Hidden" }',
        why: "Clients see no internal event, and every other."
      },
      {
        id: "frame-type",
        find: "if (!eventType.test(event.type)) return unencodable()",
        put: "",
        why: "A type that could break the stream's lines is never sent."
      },
      {
        id: "frame-type-anchor",
        find: "(\\.[a-z0-9_]+)*\\.v\\d+$/",
        put: "(\\.[a-z0-9_]+)*\\.v\\d+/",
        why: "Nothing may follow the version in a type."
      },
      {
        id: "frame-limit",
        find: "written.success.length <= limit",
        put: "written.success.length < limit",
        why: "A frame may be exactly as large as the limit."
      },
      {
        id: "frame-no-limit",
        find: "return written.success.length <= limit\n",
        put: "return written.success.length > 0\n",
        why: "A frame that is too large becomes `error.v1`."
      },
      {
        id: "frame-poison-project",
        find: "project: event.project_id === null ? undefined : frame(event.project_id)",
        put: "project: undefined",
        why: "A project's stream gets `error.v1` of its own project."
      },
      {
        id: "frame-poison-id",
        find: 'event.id, "error.v1", event.at',
        put: '"", "error.v1", event.at',
        why: "`error.v1` stands in the place of its event, with its id."
      },
      {
        id: "frame-project",
        find: "...(event.project_id === null ? {} : { project_id: event.project_id }),\n        region_id",
        put: "region_id",
        why: "An event of a project names the project."
      },
      {
        id: "frame-blank-line",
        find: "data: ${JSON.stringify(envelope)}\\n\\n`",
        put: "data: ${JSON.stringify(envelope)}\\n`",
        why: "A blank line ends each event."
      },
      {
        id: "frame-gap-history",
        find: 'gap.reason === "too_old" && gap.last_event_id !== null',
        put: "gap.last_event_id !== null",
        why: "Only a client that is too far back is shown the history after its position."
      },
      {
        id: "frame-gap-id",
        find: 'resumeGapId(gap.latest_id), "resume.gap.v1"',
        put: 'gap.latest_id, "resume.gap.v1"',
        why: "The id of a gap is not an event's id."
      },
      {
        id: "frame-overflow-id",
        find: 'overflowId(latest_id), "overflow.v1"',
        put: 'latest_id, "overflow.v1"',
        why: "The id of an overflow is not an event's id."
      },
      {
        id: "frame-comment",
        find: 'text === "" ? ":\\n" : `: ${text}\\n`',
        put: 'text === "" ? "\\n" : `: ${text}\\n`',
        why: "A comment without text is a comment line."
      },
      {
        id: "frame-bookmark",
        find: "`id: ${id}\\n\\n`",
        put: "`id: ${id}\\ndata: \\n\\n`",
        why: "A bookmark moves the position without an event."
      }
    ]
  },
  {
    area: "events",
    file: "packages/core/src/events/streams/StreamLimits.ts",
    tests: [
      "packages/core/test/events/streams/StreamLimits.test.ts",
      "packages/core/test/events/streams/EventBroker.ends.test.ts",
      "packages/core/test/events/streams/EventStreams.test.ts",
      "packages/core/test/events/streams/EventBroker.test.ts"
    ],
    faults: [
      {
        id: "streams-principal-key",
        find: "principal.api_key_id ?? principal.user_id",
        put: "principal.user_id",
        why: "A key's streams are counted apart from its maker's."
      },
      {
        id: "streams-opens",
        find: "if (opened >= limits.opens)",
        put: "if (opened + 1 >= limits.opens)",
        why: "As many streams may be opened in a second as the limit says."
      },
      {
        id: "streams-opens-window",
        find: "this.#opens.clear()",
        put: "",
        why: "The limit of openings counts one second."
      },
      {
        id: "streams-principal",
        find: "held: this.#principals.get(principal) ?? 0",
        put: "held: (this.#principals.get(principal) ?? 0) - 1",
        why: "A principal has at most as many streams as the limit says."
      },
      {
        id: "streams-org",
        find: "held: this.#orgs.get(org) ?? 0",
        put: "held: (this.#orgs.get(org) ?? 0) - 1",
        why: "An organization has at most as many streams as the limit says."
      },
      {
        id: "streams-instance",
        find: "held: this.#all",
        put: "held: this.#all - 1",
        why: "An instance has at most as many streams as the limit says."
      },
      {
        id: "streams-give-principal",
        find: "bump(this.#principals, principalKey(access), -1)",
        put: "",
        why: "A stream that ends gives its principal's place back."
      },
      {
        id: "streams-give-org",
        find: "bump(this.#orgs, access.org_id, -1)",
        put: "",
        why: "A stream that ends gives its organization's place back."
      },
      {
        id: "streams-give-all",
        find: "this.#all -= 1",
        put: "",
        why: "A stream that ends gives the instance's place back."
      },
      {
        id: "streams-refusal-counts",
        find: "bump(this.#opens, principal, 1)\n    const refused = this.#limits === null ? undefined : this.#exceeded(this.#limits, principal, access.org_id)",
        put: "const refused = this.#limits === null ? undefined : this.#exceeded(this.#limits, principal, access.org_id)\n    if (refused === undefined) bump(this.#opens, principal, 1)",
        why: "A refusal counts as an opening too."
      }
    ]
  }
]
