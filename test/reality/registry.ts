import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { manifestType } from '../../scripts/image/oci-image.ts';
import type { ImageStore } from './images.ts';

/** A registry on loopback that serves the images of a store for any registry host. */
export interface LoopbackRegistry {
  readonly url: string;
  stop(): Promise<void>;
}

/** containerd sends the name of the mirrored registry in the query. */
const requestPattern = /^\/v2\/([^?]+)\/(manifests|blobs)\/([^?/]+)\?ns=([^&]+)/;

export async function startRegistry(images: ImageStore): Promise<LoopbackRegistry> {
  const server = createServer((request, response) => {
    const [, repository = '', kind, name = '', host = ''] = requestPattern.exec(request.url ?? '') ?? [];
    const digest =
      kind === 'manifests' && !name.startsWith('sha256:')
        ? images.manifests.get(`${decodeURIComponent(host)}/${repository}:${name}`)
        : name;
    const type = kind === 'manifests' ? manifestType : 'application/octet-stream';
    void answer(response, { digest, type, images, withBody: request.method === 'GET' });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function answer(
  response: ServerResponse,
  asked: { digest: string | undefined; type: string; images: ImageStore; withBody: boolean },
): Promise<void> {
  const { digest, type, images, withBody } = asked;
  const isDigest = /^sha256:[0-9a-f]{64}$/.test(digest ?? '');
  const path = digest !== undefined && isDigest ? images.pathOf(digest) : undefined;
  const found = path === undefined ? undefined : await stat(path).catch(() => undefined);
  if (path === undefined || !found) return void response.writeHead(404).end();
  response.writeHead(200, {
    'content-type': type,
    'content-length': found.size,
    'docker-content-digest': digest,
  });
  if (withBody) createReadStream(path).pipe(response);
  else response.end();
}
