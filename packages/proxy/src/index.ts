/** The public surface of the proxy: re-exports, nothing else. */
export type { Admitted } from "./allowlist/admit.ts"
export * from "./ControlPlane.ts"
export * from "./HttpControlPlane.ts"
export { defaultLimits, type LimitSettings } from "./Limits.ts"
export * from "./Proxy.ts"
export { type TlsFiles, UnusableCertificate } from "./Tls.ts"
