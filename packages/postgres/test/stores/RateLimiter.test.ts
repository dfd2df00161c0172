import { rateLimiterContract } from "@narthex/core/testing"
import { onPostgres } from "./onPostgres.ts"

rateLimiterContract("Postgres", onPostgres)
