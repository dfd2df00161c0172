import { describe } from "@effect/vitest"
import { computeDriverContract, runContract } from "@narthex/core/testing"
import { LocalComputeDriver } from "@narthex/local-postgres"
import { Effect, Layer } from "effect"
import * as vitest from "vitest"
import { dataDirectory, kinds } from "./support.ts"

const [{ choice, tag }] = kinds

describe("local computes", { tags: [tag] }, () =>
  runContract(
    vitest,
    computeDriverContract,
    "local Postgres",
    Layer.unwrap(Effect.map(dataDirectory(0), (dataDir) => LocalComputeDriver.layer({ dataDir, binaries: choice })))
  )
)
