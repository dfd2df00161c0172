/** The API as a client of its own process. */
import type { FaultsOfFile } from "../runner/Fault.ts"

const direct = ["packages/http/test/server/DirectApi.test.ts"]
const pages = ["test/console/direct.test.ts"]
const matrix = ["packages/http/test/authorization/direct.test.ts"]

export const directApi: ReadonlyArray<FaultsOfFile> = [
  {
    area: "console",
    file: "packages/http/src/server/DirectApi.ts",
    tests: direct,
    faults: [
      {
        id: "direct-no-peer",
        find: "peerAddress: loopback,",
        put: "peerAddress: Option.none(),",
        why: "The peer of a call within the process is the loopback, as that of a client on the same machine."
      },
      {
        id: "direct-any-body",
        find: "body.body.length <= maxBytes",
        put: "body.body.length >= 0",
        why: "A body that is too large is refused within the process too."
      },
      {
        id: "direct-goes-on",
        find: "call.interruptUnsafe(undefined, HttpServerError.ClientAbort.annotation)",
        put: "undefined",
        why: "A call ends when its caller is interrupted."
      }
    ]
  },
  {
    area: "console",
    file: "packages/http/src/transport/ServerTransport.ts",
    tests: matrix,
    faults: [
      {
        id: "direct-without-socket",
        find: "(hasSocket(request) ? node : direct)",
        put: "(hasSocket(request) ? direct : node)",
        why: "A request of the process has no socket to write to."
      }
    ]
  },
  {
    area: "authorization",
    file: "packages/http/src/middleware/sharing.ts",
    tests: ["packages/http/test/middleware/sharing.test.ts"],
    faults: [
      {
        id: "shared-begun",
        find: "    gathering = new Map()\n",
        put: "",
        why: "A request gets no answer of a read that began before it arrived."
      },
      {
        id: "shared-first-fiber",
        find: "if (only !== undefined && others.length === 0) only(read)",
        put: "if (only !== undefined) only(Effect.onExit(read, (exit) => Effect.sync(() => others.forEach((it) => it(exit)))))",
        why: "A read goes on when the client that asked first leaves."
      },
      {
        id: "shared-unwanted",
        find: "if (gathered.askers.size === 0 && gathering.get(key) === gathered)",
        put: "if (gathered === undefined)",
        why: "A read that no request waits for is not made."
      }
    ]
  },
  {
    area: "authorization",
    file: "packages/http/src/middleware/Authentication.ts",
    tests: direct,
    faults: [
      {
        id: "shared-addresses",
        // biome-ignore lint/suspicious/noTemplateCurlyInString: a piece of source text is no template
        find: "shared(`${text} ${address}`",
        put: "shared(text",
        why: "The last use of a key has the address that it came from."
      }
    ]
  },
  {
    area: "authorization",
    file: "packages/http/src/middleware/PolicyCheck.ts",
    tests: direct,
    faults: [
      {
        id: "shared-organizations",
        // biome-ignore lint/suspicious/noTemplateCurlyInString: a piece of source text is no template
        find: "`${caller.org_id} ${ids.project_id}`",
        put: "String(ids.project_id)",
        why: "What is found for one organization is not found for another."
      }
    ]
  },
  {
    area: "console",
    file: "packages/console/src/Console.ts",
    tests: pages,
    faults: [
      {
        id: "direct-unused",
        find: "api_client === undefined",
        put: "api_client !== null",
        why: "The console calls the API of its process without a socket."
      }
    ]
  }
]
