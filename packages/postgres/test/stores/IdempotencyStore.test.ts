import { idempotencyStoreContract } from "@narthex/core/testing"
import { onPostgres } from "./onPostgres.ts"

idempotencyStoreContract("Postgres", onPostgres)
