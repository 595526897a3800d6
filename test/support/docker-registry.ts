import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from './ports.ts';
import { isInstalled, startProcess } from './process.ts';

/** A real OCI registry on loopback with basic authentication. */
export interface DockerRegistry {
  readonly url: string;
  readonly username: string;
  readonly password: string;
  /** pushes files as one artifact with a layer each, like `oras push`; returns the digest of its manifest */
  push(repository: string, tag: string, files: ReadonlyMap<string, Uint8Array>, artifactType: string): Promise<string>;
  stop(): Promise<void>;
}

const program = 'docker-registry';

/** Returns why the registry cannot be started, or undefined. */
export const missingDockerRegistry = async (): Promise<string | undefined> =>
  (await isInstalled(program, '--version')) ? undefined : `needs ${program}, a package of Debian`;

const username = 'reader';
const password = 'only-for-this-test';
/** bcrypt hash of the password */
const htpasswd = '$2b$04$Pv7mcbqQUgRn3heQk3yiIOpzrWN/Szfu3Bd7EShDSk089WUMSdI7m';

export async function startDockerRegistry(): Promise<DockerRegistry> {
  const directory = await mkdtemp(join(tmpdir(), 'docker-registry-'));
  const [port] = await freePorts(1);
  const config = {
    version: 0.1,
    log: { accesslog: { disabled: true } },
    storage: { filesystem: { rootdirectory: join(directory, 'data') } },
    http: { addr: `127.0.0.1:${port}` },
    auth: { htpasswd: { realm: 'test', path: join(directory, 'htpasswd') } },
  };
  await writeFile(join(directory, 'htpasswd'), `${username}:${htpasswd}\n`);
  // JSON is valid YAML.
  await writeFile(join(directory, 'config.yml'), JSON.stringify(config));
  const child = startProcess(program, ['serve', join(directory, 'config.yml')], {
    env: { OTEL_TRACES_EXPORTER: 'none' },
  });
  const url = `http://127.0.0.1:${port}`;
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  const ask = async (method: string, path: string, body?: Uint8Array, type?: string): Promise<Response> => {
    const answer = await fetch(new URL(path, url), {
      method,
      headers: { authorization, ...(type !== undefined && { 'content-type': type }) },
      ...(body && { body: Buffer.from(body) }),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return answer;
  };
  for (;;) {
    const answers = await ask('GET', '/v2/').then(
      () => true,
      (error: unknown) => {
        if (child.stderr().includes('level=fatal')) throw error;
        return false;
      },
    );
    if (answers) break;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const digestOf = (bytes: Uint8Array): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
  const blob = async (repository: string, mediaType: string, bytes: Uint8Array): Promise<object> => {
    const begun = await ask('POST', `/v2/${repository}/blobs/uploads/`);
    const place = new URL(begun.headers.get('location') ?? '', url);
    place.searchParams.set('digest', digestOf(bytes));
    await ask('PUT', place.href, bytes, 'application/octet-stream');
    return { mediaType, digest: digestOf(bytes), size: bytes.length };
  };
  return {
    url,
    username,
    password,
    async push(repository, tag, files, artifactType) {
      const layers: object[] = [];
      for (const [title, content] of files) {
        const layer = await blob(repository, 'application/octet-stream', content);
        layers.push({ ...layer, annotations: { 'org.opencontainers.image.title': title } });
      }
      const config = await blob(repository, 'application/vnd.oci.empty.v1+json', Buffer.from('{}'));
      const mediaType = 'application/vnd.oci.image.manifest.v1+json';
      const manifest = Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType, artifactType, config, layers }));
      await ask('PUT', `/v2/${repository}/manifests/${tag}`, manifest, mediaType);
      return digestOf(manifest);
    },
    async stop() {
      await child.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
