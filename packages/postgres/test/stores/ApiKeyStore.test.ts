import { apiKeyStoreContract } from "@narthex/core/testing"
import { onPostgres } from "./onPostgres.ts"

apiKeyStoreContract("Postgres", onPostgres)
