import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';

export interface TestLayer {
  readonly mediaType: string;
  readonly content: Uint8Array;
  readonly annotations?: Readonly<Record<string, string>>;
}

export interface TestServerOptions {
  readonly tls?: { readonly cert: string; readonly key: string };
  /** authentication: none, by name and password, or by token */
  readonly auth?: { readonly kind: 'basic' | 'token'; readonly username: string; readonly password: string };
  readonly pageSize?: number;
}

export interface SeenRequest {
  readonly path: string;
  readonly authorization: string | undefined;
}

const digestOf = (bytes: Uint8Array): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
const token = 'a-token-of-the-test';

/** A loopback server with an OCI registry at /v2 and files at all other paths. */
export class TestArtifactServer {
  readonly #server: Server;
  readonly #options: TestServerOptions;
  #port = 0;
  readonly #blobs = new Map<string, Uint8Array>();
  readonly #manifests = new Map<string, { mediaType: string; bytes: Uint8Array }>();
  readonly #tags = new Map<string, string[]>();
  readonly #files = new Map<string, (request: IncomingMessage, response: ServerResponse) => void>();
  readonly requests: SeenRequest[] = [];

  private constructor(options: TestServerOptions) {
    this.#options = options;
    const answer = (request: IncomingMessage, response: ServerResponse): void => this.#answer(request, response);
    this.#server = options.tls ? createTlsServer(options.tls, answer) : createServer(answer);
  }

  static async start(options: TestServerOptions = {}): Promise<TestArtifactServer> {
    const server = new TestArtifactServer(options);
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve));
    server.#port = (server.#server.address() as AddressInfo).port;
    return server;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  get host(): string {
    return `127.0.0.1:${this.#port}`;
  }

  get url(): string {
    return `${this.#options.tls ? 'https' : 'http'}://${this.host}`;
  }

  /** Serves a file or a custom response at a path. */
  serve(
    path: string,
    content: string | Uint8Array | ((request: IncomingMessage, response: ServerResponse) => void),
  ): void {
    this.#files.set(
      path,
      typeof content === 'function'
        ? content
        : (request, response) => {
            const bytes = Buffer.from(content);
            const tag = `"${digestOf(bytes)}"`;
            const isKnown = request.headers['if-none-match'] === tag;
            response.writeHead(isKnown ? 304 : 200, { etag: tag }).end(isKnown ? undefined : bytes);
          },
    );
  }

  /** Pushes an artifact to a repository and returns its digest. */
  push(
    repository: string,
    tag: string,
    layers: readonly TestLayer[],
    more: Readonly<Record<string, unknown>> = {},
  ): string {
    const descriptor = ({ mediaType, content, annotations }: TestLayer): object => {
      this.#blobs.set(`${repository} ${digestOf(content)}`, content);
      return { mediaType, digest: digestOf(content), size: content.length, ...(annotations ? { annotations } : {}) };
    };
    const mediaType = 'application/vnd.oci.image.manifest.v1+json';
    const config = descriptor({ mediaType: 'application/vnd.oci.empty.v1+json', content: Buffer.from('{}') });
    const manifest = { schemaVersion: 2, mediaType, config, layers: layers.map(descriptor), ...more };
    return this.putManifest(repository, tag, mediaType, manifest);
  }

  putManifest(repository: string, tag: string, mediaType: string, manifest: object): string {
    const bytes = Buffer.from(JSON.stringify(manifest));
    const digest = digestOf(bytes);
    for (const reference of [tag, digest]) this.#manifests.set(`${repository} ${reference}`, { mediaType, bytes });
    this.#tags.set(repository, [...(this.#tags.get(repository) ?? []), tag]);
    return digest;
  }

  /** Replaces stored content without changing its digest. */
  damage(repository: string, digest: string, content: Uint8Array): void {
    this.#blobs.set(`${repository} ${digest}`, content);
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { pathname, searchParams } = new URL(request.url ?? '/', this.url);
    const { authorization } = request.headers;
    this.requests.push({ path: pathname, authorization });
    const file = this.#files.get(pathname);
    if (file) return file(request, response);
    if (pathname === '/token') return this.#token(authorization, response);
    const found = /^\/v2\/(.+)\/(tags\/list|manifests\/(.+)|blobs\/(.+))$/.exec(pathname);
    if (!found) return void response.writeHead(404).end();
    if (!this.#mayRead(authorization)) return this.#challenge(found[1]!, response);
    const [, repository = '', , reference, digest] = found;
    if (reference !== undefined) {
      const manifest = this.#manifests.get(`${repository} ${reference}`);
      if (!manifest) return void response.writeHead(404).end();
      const headers = { 'content-type': manifest.mediaType, 'docker-content-digest': digestOf(manifest.bytes) };
      return void response.writeHead(200, headers).end(manifest.bytes);
    }
    if (digest !== undefined) {
      const blob = this.#blobs.get(`${repository} ${digest}`);
      return void (blob ? response.writeHead(200).end(blob) : response.writeHead(404).end());
    }
    this.#listTags(repository, searchParams.get('last'), response);
  }

  #listTags(repository: string, last: string | null, response: ServerResponse): void {
    const all = this.#tags.get(repository);
    if (!all) return void response.writeHead(404).end();
    const { pageSize = 1_000 } = this.#options;
    const from = last === null ? 0 : all.indexOf(last) + 1;
    const tags = all.slice(from, from + pageSize);
    const next = `</v2/${repository}/tags/list?last=${tags.at(-1)}>; rel="next"`;
    response.writeHead(200, from + pageSize < all.length ? { link: next } : {});
    response.end(JSON.stringify({ name: repository, tags }));
  }

  #mayRead(authorization: string | undefined): boolean {
    const { auth } = this.#options;
    if (!auth) return true;
    return authorization === (auth.kind === 'token' ? `Bearer ${token}` : this.#basic());
  }

  #basic(): string {
    const { auth } = this.#options;
    return `Basic ${Buffer.from(`${auth?.username}:${auth?.password}`).toString('base64')}`;
  }

  #challenge(repository: string, response: ServerResponse): void {
    const isToken = this.#options.auth?.kind === 'token';
    const bearer = `Bearer realm="${this.url}/token",service="test",scope="repository:${repository}:pull"`;
    response.writeHead(401, { 'www-authenticate': isToken ? bearer : 'Basic realm="test"' }).end();
  }

  #token(authorization: string | undefined, response: ServerResponse): void {
    if (authorization === this.#basic()) response.writeHead(200).end(JSON.stringify({ token }));
    else response.writeHead(401).end();
  }
}
