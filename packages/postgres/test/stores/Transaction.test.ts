import { runContract, transactionContract } from "@narthex/core/testing"
import * as vitest from "vitest"
import { onPostgres } from "./onPostgres.ts"

runContract(vitest, transactionContract, "Postgres", onPostgres)
