/** The contract of roles on a server: re-exports, nothing else. `runContract` of `@narthex/core/testing` runs it. */
export { computeRolesContract, type Execute, RoleServer } from "./computeRoles.ts"
