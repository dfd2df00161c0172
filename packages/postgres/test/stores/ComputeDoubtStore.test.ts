import { computeDoubtStoreContract } from "@narthex/core/testing"
import { onPostgres } from "./onPostgres.ts"

computeDoubtStoreContract("Postgres", onPostgres)
