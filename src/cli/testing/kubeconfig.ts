import { writeFile } from 'node:fs/promises';
import type { TestServer } from '../../apiserver/testing/index.ts';

/** Writes a kubeconfig of a test server, for commands that read one. */
export async function writeTestKubeconfig(path: string, { endpoint }: TestServer): Promise<void> {
  const { host, port, ca, cert = '', key = '' } = endpoint;
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const cluster = { server: `https://${host}:${port}`, 'certificate-authority-data': base64(ca) };
  const user = { 'client-certificate-data': base64(cert), 'client-key-data': base64(key) };
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'test',
    clusters: [{ name: 'test', cluster }],
    users: [{ name: 'test', user }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
  };
  await writeFile(path, JSON.stringify(config));
}
