/**
 * nchan in nginx, a server of event streams in C, where both are installed. Events are published by HTTP, as its users do:
 * the POST of each event is part of what the server does, and the process that sends it is not measured.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { Agent, request } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Served } from "./eventsProtocol.ts"
import { sampleEnvelope, sampleType } from "./eventsSample.ts"
import { accepts, childrenOf, cpuOf, freePort, installed, residentOf } from "./proxyPeers.ts"

const nginx = installed(["/usr/sbin/nginx", "/usr/local/sbin/nginx"])
const nchanModule = installed(["/usr/lib/nginx/modules/ngx_nchan_module.so"])

export const hasNchan = nginx !== undefined && nchanModule !== undefined

/** One worker, and a channel for each credential. */
const configuration = (port: number, folder: string) => `
daemon off;
worker_processes 1;
worker_rlimit_nofile 20000;
load_module ${nchanModule};
pid ${folder}/nginx.pid;
error_log ${folder}/error.log error;
events {
  worker_connections 16000;
}
http {
  access_log off;
  tcp_nodelay on;
  keepalive_requests 1000000;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  server {
    listen 127.0.0.1:${port} backlog=4096;
    nchan_channel_id $http_authorization;
    nchan_message_buffer_length 1024;
    location = /v1/events {
      nchan_subscriber eventsource;
      nchan_subscriber_first_message newest;
    }
    location = /publish {
      nchan_publisher http;
    }
  }
}
`

const listening = async (child: ChildProcess, port: number, folder: string) => {
  const until = performance.now() + 10_000
  while (!(await accepts(port))) {
    if (performance.now() > until || child.exitCode !== null)
      throw new Error(`nginx does not listen: ${readFileSync(join(folder, "error.log"), "utf8")}`)
    await new Promise((resume) => setTimeout(resume, 20))
  }
}

/** Connections of the publisher: more of them than one let events of a step overlap. */
const publishers = 8

export const nchan = async (organizations: number): Promise<Served> => {
  const folder = mkdtempSync(join(tmpdir(), "narthex-nchan-"))
  const port = await freePort()
  const file = join(folder, "nginx.conf")
  writeFileSync(file, configuration(port, folder))
  const child = spawn(nginx ?? "nginx", ["-p", folder, "-c", file], { stdio: "ignore" })
  process.on("exit", () => {
    child.kill("SIGTERM")
    rmSync(folder, { recursive: true, force: true })
  })
  await listening(child, port, folder)

  const agent = new Agent({ keepAlive: true, maxSockets: publishers })
  const post = (token: string, body: string) =>
    new Promise<void>((published, failed) => {
      const headers = {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        "content-length": Buffer.byteLength(body),
        "x-eventsource-event": sampleType
      }
      request({ host: "127.0.0.1", port, path: "/publish", method: "POST", agent, headers }, (response) => {
        response.resume().on("end", published)
        if ((response.statusCode ?? 500) >= 300) failed(new Error(`nchan answered with ${response.statusCode}.`))
      })
        .on("error", failed)
        .end(body)
    })

  const tokens = Array.from({ length: organizations }, (_, at) => `organization-${at}`)
  const pid = child.pid ?? 0
  let n = 0
  return {
    up: { port, tokens },
    publish: (events) =>
      Promise.all(
        tokens.flatMap((token) =>
          Array.from({ length: events }, () => {
            n += 1
            return post(token, JSON.stringify(sampleEnvelope(n)))
          })
        )
      ),
    own: {
      cpu: cpuOf(pid),
      memory: () => childrenOf(pid).reduce((sum, worker) => sum + residentOf(worker), 0)
    }
  }
}
