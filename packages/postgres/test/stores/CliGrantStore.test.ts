import { cliGrantStoreContract } from "@narthex/core/testing"
import { onPostgres } from "./onPostgres.ts"

cliGrantStoreContract("Postgres", onPostgres)
