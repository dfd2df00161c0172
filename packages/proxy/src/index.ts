/** The public surface of the proxy: re-exports only. */
export type { Admitted } from "./allowlist/checkAllowlist.ts"
export * from "./control-plane/ControlPlane.ts"
export * from "./control-plane/HttpControlPlane.ts"
export { defaultConnectionLimits, type ConnectionLimits } from "./connection/ConnectionLimiter.ts"
export * from "./Proxy.ts"
export { type TlsFiles, UnusableCertificate } from "./connection/Tls.ts"
