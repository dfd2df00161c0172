/** The public surface of the proxy: re-exports only. */
export type { Admitted } from "./allowlist/checkAllowlist.ts"
export { type ConnectionLimits, defaultConnectionLimits } from "./connection/ConnectionLimiter.ts"
export { type TlsFiles, UnusableCertificate } from "./connection/Tls.ts"
export * from "./control-plane/ControlPlane.ts"
export * from "./control-plane/HttpControlPlane.ts"
export { CannotListen } from "./listen.ts"
export { Proxy, type ProxyError, runProxy } from "./Proxy.ts"
export { defaultProxySettings, type ProxyConfig, UnreadableNetwork } from "./ProxyConfig.ts"
