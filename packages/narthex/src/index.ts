/** The public surface of the package: re-exports only. */
export { type ProblemCode, problemCatalog } from "@narthex/api"
export * from "./ControlPlane.ts"
export * from "./options/ControlPlaneOptions.ts"
export * from "./options/InvalidOptions.ts"
export * from "./options/Storage.ts"
