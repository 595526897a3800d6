import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ProcessOptions } from './process.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/**
 * The program under test: the sources by default, so that a stale build never passes for them. CAPSTAN_PROGRAM names a
 * script to run instead (`bin/capstan.js` for what is shipped).
 */
export function capstanProgram(): string[] {
  const script = process.env['CAPSTAN_PROGRAM'];
  return script ? [script] : ['--import', 'tsx', join(root, 'src/cli/main.ts')];
}

/** Where and how it is run. */
export function capstanEnvironment(variables: Readonly<Record<string, string>> = {}): ProcessOptions {
  return { cwd: root, env: { ...(process.env as Record<string, string>), NO_COLOR: '1', ...variables } };
}

/** Lets programs find Gateways of a Kubernetes by the names of their listeners. */
export function withGatewayNames(kubeconfig: string): Record<string, string> {
  const names = new URL('./gateway-names.mjs', import.meta.url).href;
  return { NODE_OPTIONS: `--import ${names}`, CAPSTAN_E2E_GATEWAYS_OF: kubeconfig };
}
