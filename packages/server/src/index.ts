/** The public surface of the bundled server: its settings and metrics, for documentation and tools. It runs as a program. */
export * from "./metricCatalog.ts"
export * from "./settings/Settings.ts"
export * from "./settings/settingsTable.ts"
