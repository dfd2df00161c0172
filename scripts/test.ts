/**
 * `npm test`: every test, or those of the given paths. `--long` runs the long forms, `--packed` those tests that need the
 * tarballs. Resources such as the build are made when a test asks for them (`test/harness/globalSetup.ts`), so a file of
 * pure tests runs in seconds.
 */
import { spawnSync } from "node:child_process"
import { join } from "node:path"

const root = join(import.meta.dirname, "..")
const given = process.argv.slice(2)
const forms = { "--long": "NARTHEX_TEST_LONG", "--packed": "NARTHEX_TEST_PACKED" }

const { status } = spawnSync("vitest", ["run", ...given.filter((it) => !(it in forms))], {
  cwd: root,
  stdio: "inherit",
  env: {
    ...process.env,
    // Test workers and the processes under test load the same modules many times.
    NODE_COMPILE_CACHE: join(root, "node_modules/.cache/compile"),
    ...Object.fromEntries(Object.entries(forms).flatMap(([flag, name]) => (given.includes(flag) ? [[name, "1"]] : [])))
  }
})
process.exit(status ?? 1)
