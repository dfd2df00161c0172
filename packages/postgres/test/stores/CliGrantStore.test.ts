import { cliGrantStoreContract, runContract } from "@narthex/core/testing"
import * as vitest from "vitest"
import { onPostgres } from "./onPostgres.ts"

runContract(vitest, cliGrantStoreContract, "Postgres", onPostgres)
