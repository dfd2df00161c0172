/**
 * Which test runs which fenced block of the documentation. Each test takes its blocks from here, so a block that the
 * table gives to a test is one that the test runs; `test/blocks.test.ts` fails for a block that the table gives to none.
 */
import { type Block, documentedBlocks } from "../../scripts/pages/blocks.ts"
import { isStep } from "../walk/walk.ts"

type Runs = (block: Block) => boolean

const isGuide = ({ page }: Block) => page.startsWith("docs/guides/")
const isTutorial = ({ page }: Block) => page.startsWith("docs/tutorials/")
const isHowTo = (block: Block) => block.page.startsWith("docs/how-to/") || isTutorial(block)
const isExample = ({ page }: Block) => page.startsWith("examples/")
const isPage =
  (...pages: ReadonlyArray<string>): Runs =>
  ({ page }) =>
    pages.includes(page)

/** Whether the block is in one of these languages. */
const speaks =
  (...languages: ReadonlyArray<string>): Runs =>
  ({ language }) =>
    languages.includes(language)

const both =
  (one: Runs, other: Runs): Runs =>
  (block) =>
    one(block) && other(block)

const begins =
  (page: string, text: string): Runs =>
  (block) =>
    block.page === page && block.text.startsWith(text)

/** The blocks about serving, by their names in `test/walk/serving.test.ts`. */
export const servingBlocks = {
  makeSecrets: begins("docs/operating/serving.md", "install -d -m 0700 /etc/narthex"),
  instances: begins("README.md", "export DATABASE_URL"),
  operator: begins("docs/operating/serving.md", "server="),
  oneMachine: begins("README.md", "NARTHEX_DEV_PROVIDERS=false")
} satisfies Readonly<Record<string, Runs>>

const serving: ReadonlyArray<Runs> = Object.values(servingBlocks)
const charts: Runs = ({ text }) => text.includes("helm install")
const containers = isPage("docs/operating/containers.md")
const operating: Runs = (block) =>
  block.page.startsWith("docs/operating/") && !block.text.startsWith("server=") && !containers(block) && !charts(block)
const generating = isPage("docs/how-to/generate-a-client.md")
const inTransaction = isPage("docs/how-to/your-transaction.md")

/** Pages whose program only exports a layer, which would listen or start a server. It is built of what it needs. */
const layers = ["core", "http", "proxy", "console", "local-postgres", "kubernetes", "dev-providers"].map(
  (name) => `packages/${name}/README.md`
)

export const runners = {
  "test/walk/walk.test.ts": both(isPage("README.md"), isStep),
  "test/walk/serving.test.ts": (block: Block) => serving.some((runs) => runs(block)),
  "test/walk/operating.test.ts": both(operating, speaks("sh")),
  "test/walk/containers.long.ts": containers,
  "test/chart.test.ts": charts,
  "test/walk/pages.test.ts": (block: Block) =>
    (speaks("sh")(block) &&
      (isExample(block) ||
        isPage("README.md", "CONTRIBUTING.md", "packages/cli/README.md", "packages/server/README.md")(block)) &&
      !isStep(block) &&
      !serving.some((runs) => runs(block)) &&
      !charts(block)) ||
    (isGuide(block) && (block.language === "yaml" || (block.language === "console" && /^narthex /.test(block.text)))),
  "test/guides.test.ts": (block: Block) =>
    isGuide(block) &&
    (speaks("sh", "ts", "js", "http")(block) || (block.language === "console" && !/^narthex /.test(block.text))),
  "packages/local-postgres/test/notOffered.test.ts": both(isPage("docs/guides/not-offered.md"), speaks("sql")),
  "test/howTo.test.ts": (block: Block) =>
    (isHowTo(block) && speaks("ts")(block) && !generating(block) && !inTransaction(block)) ||
    both(isTutorial, speaks("sh"))(block),
  "test/readmes.test.ts": (block: Block) =>
    both(isPage(...layers), speaks("ts", "sh"))(block) || both(isPage("SECURITY.md"), speaks("sh"))(block),
  // Data, drawings, and quotes from the programs of examples, which their own tests run.
  "test/blocks.test.ts": (block: Block) => speaks("json", "")(block) || both(isExample, speaks("ts"))(block),
  "test/documentation.test.ts": both(isPage("README.md"), speaks("ts")),
  "packages/narthex/test/readme.test.ts": both(isPage("packages/narthex/README.md"), speaks("ts", "sh")),
  "packages/narthex/test/schema.test.ts": both(isPage("packages/narthex/README.md"), speaks("sql")),
  "packages/narthex/test/yourTransaction.test.ts": inTransaction,
  "packages/http/test/client/readme.test.ts": both(isPage("packages/api/README.md"), speaks("ts")),
  "packages/postgres/test/readme.test.ts": both(isPage("packages/postgres/README.md"), speaks("ts")),
  "packages/http/test/events/reverseProxies.test.ts": both(
    isPage("docs/operating/event-streams.md"),
    speaks("nginx", "caddyfile")
  ),
  "test/serving/monitoring.test.ts": both(isPage("docs/operating/monitoring.md"), speaks("yaml")),
  "test/failover/failover.long.ts": both(isPage("docs/operating/failover.md"), speaks("haproxy")),
  "examples/foreignClient.test.ts": generating
} satisfies Readonly<Record<string, Runs>>

/** The blocks that a test runs, in the order of the pages. Throws if there are none. */
export const blocksRunBy = (test: keyof typeof runners): ReadonlyArray<Block> => {
  const blocks = documentedBlocks.filter(runners[test])
  if (blocks.length === 0) throw new Error(`${test} runs no block of the documentation.`)
  return blocks
}
