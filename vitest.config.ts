import { defineConfig } from "vitest/config"

// `source` resolves workspace packages to their TypeScript, so tests need no build.
const conditions = ["source", "module", "node", "development|production"]

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: ["source"] } },
  test: {
    include: ["packages/*/test/**/*.test.{ts,tsx}", "test/**/*.test.ts", "examples/**/*.test.ts", "bench/**/*.test.ts"],
    exclude: ["**/node_modules/**", "**/dist/**"],
    // Most tests wait for real processes; one worker, the default on two cores, would wait with them.
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 120_000
  }
})
