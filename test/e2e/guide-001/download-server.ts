import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Serves the downloads of the guide: the manifest of a provider, and a chart in a registry. */
export interface DownloadServer {
  readonly url: string;
  /** host and port */
  readonly registry: string;
  stop(): Promise<void>;
}

export interface PublishedChart {
  readonly repository: string;
  readonly version: string;
  /** archive as created by `helm package` */
  readonly archive: Buffer;
}

const digestOf = (bytes: Buffer): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

export async function startDownloadServer(
  files: Readonly<Record<string, URL>>,
): Promise<DownloadServer & { publish(chart: PublishedChart): void }> {
  const answers = new Map<string, { body: Buffer; type: string }>();
  for (const [path, file] of Object.entries(files))
    answers.set(path, { body: await readFile(file), type: 'text/yaml' });
  answers.set('/v2/', { body: Buffer.from('{}'), type: 'application/json' });
  const server = createServer((request, response) => {
    const found = answers.get((request.url ?? '').replace(/\?.*$/s, ''));
    if (!found) {
      response.writeHead(404, { 'content-type': 'application/json' }).end('{"errors":[{"code":"NAME_UNKNOWN"}]}');
      return;
    }
    const headers = {
      'content-type': found.type,
      'content-length': String(found.body.length),
      'docker-content-digest': digestOf(found.body),
    };
    response.writeHead(200, headers).end(request.method === 'HEAD' ? undefined : found.body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const registry = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `http://${registry}`,
    registry,
    publish({ repository, version, archive }) {
      const base = `/v2/${repository}`;
      const config = Buffer.from(JSON.stringify({ name: repository.split('/').at(-1), version, apiVersion: 'v2' }));
      const describe = (body: Buffer, mediaType: string): object => {
        answers.set(`${base}/blobs/${digestOf(body)}`, { body, type: 'application/octet-stream' });
        return { mediaType, digest: digestOf(body), size: body.length };
      };
      const type = 'application/vnd.oci.image.manifest.v1+json';
      const manifest = Buffer.from(
        JSON.stringify({
          schemaVersion: 2,
          mediaType: type,
          config: describe(config, 'application/vnd.cncf.helm.config.v1+json'),
          layers: [describe(archive, 'application/vnd.cncf.helm.chart.content.v1.tar+gzip')],
        }),
      );
      for (const name of [version, digestOf(manifest)]) {
        answers.set(`${base}/manifests/${name}`, { body: manifest, type });
      }
      const tags = Buffer.from(JSON.stringify({ name: repository, tags: [version] }));
      answers.set(`${base}/tags/list`, { body: tags, type: 'application/json' });
    },
    async stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}
