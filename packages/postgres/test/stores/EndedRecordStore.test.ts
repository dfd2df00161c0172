import { endedRecordStoreContract } from "@narthex/core/testing"
import { onPostgres } from "./onPostgres.ts"

endedRecordStoreContract("Postgres", onPostgres)
