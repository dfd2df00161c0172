import { PostgresStorage } from "@narthex/postgres"
import { Layer } from "effect"
import { testDatabase } from "../../../postgres/test/support/TestDatabase.ts"
import { authorizationSuite } from "./authorizationSuite.ts"

authorizationSuite("Postgres", PostgresStorage.layer.pipe(Layer.provide(testDatabase)))
