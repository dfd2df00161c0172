import { sessionStoreContract } from "@narthex/core/testing"
import { onPostgres } from "./onPostgres.ts"

sessionStoreContract("Postgres", onPostgres)
