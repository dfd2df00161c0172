/** The library: serving without a listener, following events, what a host requires. */
import type { FaultsOfFile } from "../runner/Fault.ts"

export const library: ReadonlyArray<FaultsOfFile> = [
  {
    area: "host",
    file: "packages/http/src/transport/FetchTransport.ts",
    tests: ["packages/http/test/handlers/requests.test.ts"],
    faults: [
      {
        id: "fetch-body-unnoticed",
        find: "return Effect.succeed(announced ?? false)",
        put: "return Effect.succeed(announced ?? true)",
        why: "A `Request` without a body has none, whatever its type."
      },
      {
        id: "fetch-empty-body",
        find: "return !read.done",
        put: "return true",
        why: "The type of an empty body does not count."
      },
      {
        id: "fetch-credential-twice",
        find: 'headers[name]?.includes(",") ?? false',
        put: "headers[name] === undefined && false",
        why: "A credential with a comma counts as sent twice."
      }
    ]
  },
  {
    area: "host",
    file: "packages/http/src/server/handlers.ts",
    tests: ["packages/http/test/server/nodeHandler.test.ts"],
    faults: [
      {
        id: "handler-reset-streams",
        find: "if (!outgoing.writableEnded) gone",
        put: 'if (!("writableFinished" in outgoing)) gone',
        why: "A stream over HTTP/2 ends when its client resets it."
      }
    ]
  },
  {
    area: "host",
    file: "packages/http/src/server/nodeHandler.ts",
    tests: ["packages/http/test/server/nodeHandler.test.ts"],
    faults: [
      {
        id: "handler-lingers",
        find: "setTimeout(() => outgoing.destroy(), linger)",
        put: "setTimeout(() => {}, linger)",
        why: "A response whose client reads nothing is destroyed."
      },
      {
        id: "handler-full-response",
        find: "reader.closed.catch(() => outgoing.destroy())",
        put: "reader.closed.catch(() => {})",
        why: "A full response is destroyed with its stream."
      }
    ]
  },
  {
    area: "host",
    file: "packages/http/src/transport/NodeTransport.ts",
    tests: ["packages/http/test/events/http2.test.ts"],
    faults: [
      {
        id: "http2-body-unnoticed",
        find: "announcedBody(request) ?? !",
        put: "announcedBody(request) === true && !",
        why: "A body over HTTP/2 is there without a header that announces it."
      }
    ]
  },
  {
    area: "events",
    file: "packages/http/src/transport/BodySink.ts",
    tests: ["packages/http/test/transport/BodySink.test.ts"],
    faults: [
      {
        id: "body-request",
        find: "    this.request = request\n",
        put: "    this.request = undefined\n",
        why: "A client that leaves ends its stream although the request was collected."
      },
      {
        id: "body-shares-bytes",
        find: "enqueue(bytes.payload.slice())",
        put: "enqueue(bytes.payload)",
        why: "A reader gets bytes of its own."
      },
      {
        id: "body-ends-early",
        find: "this.#controller?.desiredSize !== highWater) return",
        put: "this.#controller === undefined) return",
        why: "A body is gone when its last byte was read."
      },
      {
        id: "body-ignores-abort",
        find: 'else signal.addEventListener("abort", this.#abort, { once: true })',
        put: "",
        why: "A request that is aborted ends its stream."
      }
    ]
  },
  {
    area: "events",
    file: "packages/core/src/events/EventFollowing.ts",
    tests: ["packages/core/test/events/EventFollowing.test.ts"],
    faults: [
      {
        id: "follow-outlives-organization",
        find: "if (!this.#behind && this.#end !== undefined) return yield* new NotFound({})",
        put: "",
        why: "A subscription ends with its organization."
      },
      {
        id: "follow-ends-for-a-member",
        find: '!("user_id" in revoked) && ',
        put: "",
        why: "A member who leaves does not end the host's subscription."
      },
      {
        id: "follow-shows-internal",
        find: "      !internal &&\n",
        put: "",
        why: "Internal events are never delivered."
      },
      {
        id: "follow-repeats",
        find: " || (this.#position !== undefined && event.id <= this.#position)",
        put: "",
        why: "An event that was read from the log is not delivered again."
      }
    ]
  },
  {
    area: "authorization",
    file: "packages/core/src/authorization/requirement.ts",
    tests: ["packages/core/test/authorization/requirement.test.ts"],
    faults: [
      {
        id: "requirement-narrow",
        find: "reach: wider(reach, named.reach)",
        put: "reach: named.reach",
        why: "A permission of the organization is not reached by a key of a project."
      }
    ]
  },
  {
    area: "host",
    file: "packages/http/src/server/routeTable.ts",
    tests: ["packages/narthex/test/mounting.test.ts"],
    faults: [
      {
        id: "mount-shadows-host",
        find: '(!atRoot || path.startsWith("/.well-known/")) &&',
        put: "",
        why: "At the root, the host answers for its process and its pages."
      }
    ]
  },
  {
    area: "packages",
    file: "scripts/packages/packedReadme.ts",
    tests: ["test/packages/manifests.test.ts"],
    faults: [
      {
        id: "readme-dangling-link",
        find: "if (repository === undefined) return name",
        put: "if (repository === undefined) return written",
        why: "A published README has no link that leads out of its package."
      }
    ]
  },
  {
    area: "host",
    file: "packages/http/src/server/nodeHandler.ts",
    tests: ["examples/express/express.test.ts"],
    faults: [
      {
        id: "express-parsed-body",
        find: "incoming.readableEnded ? readAlready(incoming.body) : unread(incoming)",
        put: "unread(incoming)",
        why: "A body that express.json() has read is taken from what it left."
      }
    ]
  }
]
