/** The public surface of the development providers: re-exports, nothing else. */
export * from "./DevProviders.ts"
export { PortUnavailable } from "./loopbackServer.ts"
export { SigningKeyUnusable } from "./SigningKey.ts"
