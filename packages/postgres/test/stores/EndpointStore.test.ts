import { endpointStoreContract } from "@narthex/core/testing"
import { onPostgres } from "./onPostgres.ts"

endpointStoreContract("Postgres", onPostgres)
