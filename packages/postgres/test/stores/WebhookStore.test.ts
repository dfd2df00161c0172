import { runContract, webhookStoreContract } from "@narthex/core/testing"
import * as vitest from "vitest"
import { onPostgres } from "./onPostgres.ts"

runContract(vitest, webhookStoreContract, "Postgres", onPostgres)
