/** How the tests of a module run against its mutants: in one process, with the same choices each time. */
import { defineConfig } from "vitest/config"

const conditions = ["source", "module", "node", "development|production"]

export default defineConfig({
  root: process.cwd(),
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: ["source"] } },
  test: {
    include: (process.env["NARTHEX_MUTANTS_TESTS"] ?? "").split(" "),
    setupFiles: ["test/harness/setup.ts"],
    provide: { seed: "1" },
    isolate: false,
    testTimeout: 300_000
  }
})
