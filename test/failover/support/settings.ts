/** The files with which etcd, Patroni and HAProxy start: the smallest of what an operator writes (docs/operating/failover.md). */

export interface Ports {
  readonly etcd: number
  readonly etcdPeers: number
  readonly store: number
  /** The ports of each node: Patroni's and that of Postgres. */
  readonly nodes: ReadonlyArray<{ readonly rest: number; readonly postgres: number }>
}

/** Seconds after which a leader that does not renew its lock has lost it. `loop_wait` + 2 · `retry_timeout` is below it. */
export const ttl = 10

export const host = "127.0.0.1"

export const nameOf = (node: number) => `node-${node}`

export const etcdArguments = (directory: string, { etcd, etcdPeers }: Ports): ReadonlyArray<string> => {
  const [clients, peers] = [`http://${host}:${etcd}`, `http://${host}:${etcdPeers}`]
  return [
    ...["--enable-v2", "--data-dir", `${directory}/etcd`],
    ...["--listen-client-urls", clients, "--advertise-client-urls", clients],
    ...["--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers, "--initial-cluster", `default=${peers}`]
  ]
}

/** YAML, of which JSON is a part. */
export const patroniSettings = (node: number, directory: string, binaries: string, ports: Ports): string => {
  const { postgres, rest } = ports.nodes[node] ?? { postgres: 0, rest: 0 }
  const [api, server] = [`${host}:${rest}`, `${host}:${postgres}`]
  return JSON.stringify({
    scope: "store",
    name: nameOf(node),
    // Pitfall: `etcd3` with Patroni 3.0. A leader that hung takes its lock back when it goes on.
    etcd: { host: `${host}:${ports.etcd}` },
    restapi: { listen: api, connect_address: api },
    bootstrap: {
      dcs: { ttl, loop_wait: 1, retry_timeout: 3, postgresql: { use_pg_rewind: true } },
      initdb: ["data-checksums", { encoding: "UTF8" }, { locale: "C" }]
    },
    postgresql: {
      listen: server,
      connect_address: server,
      data_dir: `${directory}/data`,
      bin_dir: binaries,
      pgpass: `${directory}/pgpass`,
      authentication: { superuser: { username: "postgres" }, replication: { username: "replicator" } },
      pg_hba: ["local all all trust", `host all all ${host}/32 trust`, `host replication all ${host}/32 trust`],
      parameters: { unix_socket_directories: directory }
    }
  })
}

/** The one address of the store: the block of the page for operators, with the addresses of the test. */
export const haproxySettings = (block: string, { nodes, store }: Ports): string =>
  `${block}\n`.replace(/bind .+/, `bind ${host}:${store}`).replace(/server node-(\d) .+/g, (_, node: string) => {
    const { postgres, rest } = nodes[Number(node)] ?? {}
    return `server ${nameOf(Number(node))} ${host}:${postgres} check port ${rest}`
  })
