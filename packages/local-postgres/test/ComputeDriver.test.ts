import { describe } from "@effect/vitest"
import { computeDriverContract } from "@narthex/core/testing"
import { LocalComputeDriver } from "@narthex/local-postgres"
import { Effect, Layer } from "effect"
import { dataDirectory, kinds } from "./support.ts"

const [{ choice, tag }] = kinds

describe("local computes", { tags: [tag] }, () =>
  computeDriverContract(
    "local Postgres",
    Layer.unwrap(Effect.map(dataDirectory(0), (dataDir) => LocalComputeDriver.layer({ dataDir, binaries: choice })))
  )
)
