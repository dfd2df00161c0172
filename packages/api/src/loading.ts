/** The client for programs that run for a moment: each group of the contract is loaded with its first call. */
export { makeLoadingClient } from "./client/makeLoadingClient.ts"
