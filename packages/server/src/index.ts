/** The public surface of the bundled server: its settings, for documentation and tools. It runs as a program. */
export * from "./settings/Settings.ts"
export * from "./settings/settingsTable.ts"
