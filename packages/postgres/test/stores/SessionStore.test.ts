import { runContract, sessionStoreContract } from "@narthex/core/testing"
import * as vitest from "vitest"
import { onPostgres } from "./onPostgres.ts"

runContract(vitest, sessionStoreContract, "Postgres", onPostgres)
