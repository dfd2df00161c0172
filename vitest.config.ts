import { defineConfig } from "vitest/config"
import { LongestFirst } from "./test/harness/LongestFirst.ts"
import { long } from "./test/harness/long.ts"
import { Report } from "./test/harness/Report.ts"
import { tags } from "./test/harness/requirements.ts"
import { chosenSeed } from "./test/harness/seed.ts"

// `source` resolves workspace packages to their TypeScript, so tests need no build.
const conditions = ["source", "module", "node", "development|production"]

const seed = chosenSeed()

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: ["source"] } },
  test: {
    include: [
      ...["packages/*/test/**/*.test.{ts,tsx}", "test/**/*.test.ts", "examples/**/*.test.ts", "bench/**/*.test.ts"],
      ...(long ? ["test/**/*.long.ts"] : []) // without a short form
    ],
    exclude: ["**/node_modules/**", "**/dist/**"],
    // A dependency of this client has sources under the condition `source`, and Node strips no types below `node_modules`.
    server: { deps: { inline: [/@modelcontextprotocol\/client/, /\/eventsource\//] } },
    globalSetup: ["test/harness/globalSetup.ts"],
    setupFiles: ["test/harness/setup.ts"],
    // Debian's `psql` is a Perl program, which complains on standard error about a LANG whose locale is not installed.
    env: { PERL_BADLANG: "0" },
    provide: { seed },
    reporters: [new Report(seed)],
    sequence: { sequencer: LongestFirst },
    tags,
    includeTaskLocation: true,
    // Files of a worker share what they load: loading Effect again for each file cost more than most files' tests.
    isolate: false,
    // Most tests wait for real processes; as many workers as cores would leave the cores idle a sixth of the time.
    maxWorkers: 3,
    // Long forms do the same work hundreds of times. What a test waits for has limits of its own.
    testTimeout: long ? 3_600_000 : 120_000,
    // A hook may wait for the first build; what it waits for has limits of its own.
    hookTimeout: 600_000
  }
})
