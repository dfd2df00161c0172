import { describe } from "@effect/vitest"
import { computeDriverContract, runContract } from "@narthex/core/testing"
import * as vitest from "vitest"
import { doubledComputes } from "./support/doubledComputes.ts"

describe("computes on Kubernetes", { tags: ["openssl", "pod-addresses"] }, () =>
  runContract(vitest, computeDriverContract, "a double of Kubernetes", doubledComputes())
)
