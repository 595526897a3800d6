import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CapstanProcess, startCapstan } from '../../support/capstan.ts';
import { type ExtensionServer, startExtensionServer } from '../../support/extension-server.ts';
import { kubectl, missingKubectl } from '../../support/kubectl.ts';

const missing = await missingKubectl();

describe.skipIf(missing !== undefined)(`runtime extensions${missing ? ` (${missing})` : ''}`, () => {
  let capstan: CapstanProcess;
  let server: ExtensionServer;
  const run = (args: string[], input?: string) =>
    kubectl(args, {
      kubeconfig: capstan.kubeconfig,
      directory: capstan.directory,
      ...(input !== undefined && { input }),
    });

  beforeAll(async () => {
    server = await startExtensionServer();
    capstan = await startCapstan({ controllers: 'cluster' });
  });
  afterAll(async () => {
    await capstan?.stop();
    await server?.stop();
  });

  it('an ExtensionConfig is discovered with the authority of a Secret', async () => {
    const manifest = `
apiVersion: v1
kind: Secret
metadata: {name: hooks-tls, namespace: default}
data: {ca.crt: ${server.caBundle}}
---
apiVersion: runtime.cluster.x-k8s.io/v1alpha1
kind: ExtensionConfig
metadata:
  name: hooks
  annotations: {runtime.cluster.x-k8s.io/inject-ca-from-secret: default/hooks-tls}
spec:
  clientConfig: {url: '${server.url}'}
`;
    await run(['apply', '-f', '-'], manifest);
    const waited = await run(['wait', '--for=condition=Discovered', 'extensionconfig/hooks', '--timeout=60s']);
    expect(waited.code).toBe(0);
    const listed = await run(['get', 'ext', 'hooks', '-o', 'wide']);
    expect(listed.stdout).toMatch(/NAME\s+PAUSED\s+DISCOVERED\s+AGE\nhooks\s+False\s+True/);
    const handlers = await run(['get', 'ext', 'hooks', '-o', 'jsonpath={.status.handlers[*].name}']);
    expect(handlers.stdout.split(' ')).toContain('before-cluster-delete.hooks');
  });

  it('an ExtensionConfig that is unreachable or wrong says why', async () => {
    const config = (name: string, url: string): string =>
      JSON.stringify({
        apiVersion: 'runtime.cluster.x-k8s.io/v1beta2',
        kind: 'ExtensionConfig',
        metadata: { name },
        spec: { clientConfig: { url } },
      });
    const refused = await run(['apply', '-f', '-'], config('plain', 'http://127.0.0.1:1'));
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain("'https' is the only allowed URL scheme");
    await run(['apply', '-f', '-'], config('untrusted', server.url));
    await run(['wait', '--for=condition=Discovered=false', 'ext/untrusted', '--timeout=60s']);
    const message = await run([
      'get',
      'ext',
      'untrusted',
      '-o',
      'jsonpath={.status.conditions[?(@.type=="Discovered")].message}',
    ]);
    expect(message.stdout).toMatch(/^Error in discovery: https:\/\/127\.0\.0\.1:\d+: .*certificate/);
  });
});
