import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ProcessOptions } from './process.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/**
 * Returns the program under test: the sources by default, so a stale build cannot pass for them. CAPSTAN_PROGRAM names
 * another script (`bin/capstan.js` for the package).
 */
export function capstanProgram(): string[] {
  const script = process.env['CAPSTAN_PROGRAM'];
  return script ? [resolve(root, script)] : ['--import', import.meta.resolve('tsx'), join(root, 'src/cli/main.ts')];
}

/** Returns the program under test as words of a shell command. */
export function capstanShellCommand(): string {
  return [process.execPath, ...capstanProgram()].map((word) => `'${word}'`).join(' ');
}

/** Returns its working directory and environment. */
export function capstanEnvironment(variables: Readonly<Record<string, string>> = {}): ProcessOptions {
  return { cwd: root, env: { ...(process.env as Record<string, string>), NO_COLOR: '1', ...variables } };
}

/** Lets programs resolve the listener names of Gateways in a Kubernetes. */
export function withGatewayNames(kubeconfig: string): Record<string, string> {
  const names = new URL('./gateway-names.mjs', import.meta.url).href;
  return { NODE_OPTIONS: `--import ${names}`, CAPSTAN_E2E_GATEWAYS_OF: kubeconfig };
}
