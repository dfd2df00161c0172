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
    area: "console",
    file: "packages/console/src/Console.ts",
    tests: pages,
    faults: [
      {
        id: "direct-unused",
        find: "api_client === undefined ? FetchHttpClient.layer",
        put: "api_client !== null ? FetchHttpClient.layer",
        why: "The console calls the API of its process without a socket."
      }
    ]
  }
]
