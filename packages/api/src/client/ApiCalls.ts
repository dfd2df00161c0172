/** The calls of the contract in the Effect form: groups as objects, endpoints as methods. */
import type { HttpApiClient } from "effect/http-api"
import type { Api } from "../Api.ts"
import type { OtherProblem } from "../problems/OtherProblem.ts"

export type ApiCalls = HttpApiClient.ForApi<typeof Api, OtherProblem>
