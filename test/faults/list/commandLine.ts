/** What the command line prints. */
import type { FaultsOfFile } from "../runner/Fault.ts"

export const commandLine: ReadonlyArray<FaultsOfFile> = [
  {
    area: "command-line",
    file: "packages/cli/src/output/wrapped.ts",
    tests: ["packages/cli/test/help.test.ts"],
    faults: [
      {
        id: "help-wide",
        find: "if (last === undefined || textWidth(longer) > width) lines.push(word)",
        put: "if (last === undefined) lines.push(word)",
        why: "A line of help is as wide as the terminal at most."
      }
    ]
  },
  {
    area: "command-line",
    file: "packages/cli/src/output/renderTable.ts",
    tests: ["packages/cli/test/table.test.ts"],
    faults: [
      {
        id: "pipe-cut",
        find: "if (width === undefined || lineWidth(columns) <= width) return columns",
        put: "if (lineWidth(columns) <= (width ?? 80)) return columns\n  width ??= 80",
        why: "A table in a pipe has whole values."
      }
    ]
  },
  {
    area: "command-line",
    file: "packages/cli/src/contexts/ContextFile.ts",
    tests: ["packages/cli/test/contexts.test.ts"],
    faults: [
      {
        id: "contexts-held-lock",
        find: "return lock === undefined ? yield* new Busy() : yield* Effect.ensuring(use(lock), release(lock))",
        put: "return yield* use(lock ?? { isHeld: () => true, release: () => undefined })",
        why: "A change waits for the process that holds the lock of the file."
      }
    ]
  },
  {
    area: "command-line",
    file: "packages/cli/src/contexts/fileLock.ts",
    tests: ["packages/cli/test/fileLock.test.ts"],
    faults: [
      {
        id: "lock-of-other-released",
        find: "if (isHeld()) rmSync(lock, { force: true })",
        put: "rmSync(lock, { force: true })",
        why: "A release removes no lock of another holder."
      },
      {
        id: "lock-of-running-taken",
        find: "return machine === hostname() && pid !== undefined && !isRunning(Number(pid))",
        put: "return pid !== undefined && machine !== ''",
        why: "The lock of a running process is not taken over."
      }
    ]
  },
  {
    area: "command-line",
    file: "packages/cli/src/connection/everyPageOf.ts",
    tests: ["packages/cli/test/rawFields.test.ts"],
    faults: [
      {
        id: "pages-not-joined",
        find: "lists.set(name, [...(lists.get(name) ?? []), ...list])",
        put: "lists.set(name, [...list])",
        why: "The pages of a list are joined."
      }
    ]
  },
  {
    area: "command-line",
    file: "packages/cli/src/completion/cachedNames.ts",
    tests: ["packages/cli/test/completion.test.ts"],
    faults: [
      {
        id: "names-never-fresh",
        find: "if (Option.isSome(stored) && isWithin(now - stored.value.at, fresh)) return stored.value.names",
        put: "",
        why: "Names are kept for a minute."
      }
    ]
  },
  {
    area: "command-line",
    file: "packages/cli/src/output/OutputFormat.ts",
    tests: ["packages/cli/test/usage.test.ts"],
    faults: [
      {
        id: "usage-format-of-operands",
        find: "const flags = operands === -1 ? args : args.slice(0, operands)",
        put: "const flags = operands === -1 ? args : [...args]",
        why: "Words after -- are no flags, so they choose no format of an error."
      }
    ]
  },
  {
    area: "command-line",
    file: "packages/cli/src/commandTree.ts",
    tests: ["packages/cli/test/commandTree.test.ts"],
    faults: [
      {
        id: "start-loads-all-commands",
        find: "if (!isCommand(first)) return",
        put: "if (!isCommand(first) || first !== undefined) return",
        why: "A run loads its own command alone."
      }
    ]
  },
  {
    area: "command-line",
    file: "packages/cli/bundle/deferredBuiltins.ts",
    tests: ["packages/cli/test/bundle.test.ts"],
    faults: [
      {
        id: "start-loads-builtins",
        find: "id in functions || id === fileSystem ?",
        put: "false ?",
        why: "A run loads no module of Node that takes long and that it does not need."
      }
    ]
  },
  {
    area: "command-line",
    file: "packages/cli/src/connection/nodeHttp.ts",
    tests: ["packages/cli/test/nodeHttp.test.ts"],
    faults: [
      {
        id: "redirect-not-followed",
        find: "HttpClient.followRedirects(mostRedirects),",
        put: "HttpClient.followRedirects(mostRedirects * 0),",
        why: "The command line follows redirects."
      },
      {
        id: "redirect-limit-is-an-answer",
        find: "HttpClient.transformResponse(Effect.flatMap(notRedirected))",
        put: "HttpClient.transformResponse((answer) => answer)",
        why: "A redirect loop is a failure, not an empty answer."
      },
      {
        id: "redirect-to-any-protocol",
        find: 'if (url.protocol !== "http:" && url.protocol !== "https:")',
        put: 'if (url.protocol === "")',
        why: "A redirect leads to http and https alone."
      },
      {
        id: "long-poll-without-its-wait",
        find: "const within = head + longPoll(request)",
        put: "const within = head + longPoll(request) * 0",
        why: "A long poll of 60 s gets its answer."
      },
      {
        id: "response-head-without-bound",
        find: "duration: Duration.millis(within),",
        put: "duration: Duration.infinity,",
        why: "A server that accepts and never answers does not hold the command line."
      }
    ]
  },
  {
    area: "command-line",
    file: "packages/cli/src/connection/boundedAgents.ts",
    tests: ["packages/cli/test/nodeHttp.test.ts"],
    faults: [
      {
        id: "connection-bound-never-ends",
        find: "socket.once(over, () => clearTimeout(timer))",
        put: "socket.once(over, () => timer)",
        why: "A stream lives longer than the bound of its connection."
      },
      {
        id: "connection-without-bound",
        find: "const timer = setTimeout(() => socket.destroy(",
        put: "const timer = setTimeout(() => void (",
        why: "A TLS handshake that never ends is a failure."
      }
    ]
  },
  {
    area: "command-line",
    file: "packages/api/src/client/makeLoadingClient.ts",
    tests: ["packages/api/test/client/loading.test.ts"],
    faults: [
      {
        id: "loaded-group-without-rules",
        find: 'withSharedRules(HttpApi.make("narthex").add(await load()))',
        put: 'HttpApi.make("narthex").add(await load())',
        why: "A group that is loaded later has the rules of the whole contract."
      }
    ]
  }
]
