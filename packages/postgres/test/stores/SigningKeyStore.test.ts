import { runContract, signingKeyStoreContract } from "@narthex/core/testing"
import * as vitest from "vitest"
import { onPostgres } from "./onPostgres.ts"

runContract(vitest, signingKeyStoreContract, "Postgres", onPostgres)
