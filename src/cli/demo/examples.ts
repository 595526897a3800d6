import { CapstanError } from '../../machinery/index.ts';
import { installedFolder } from '../installed-folder.ts';

/** Examples of hosted clusters, by control plane provider. */
export const demoExamples = {
  k0smotron: { directory: 'hosted-k0smotron', cluster: 'hosted-k0smotron' },
  kamaji: { directory: 'hosted-kamaji', cluster: 'hosted-kamaji' },
  hosted: { directory: 'hosted-control-plane', cluster: 'hosted' },
} as const;

export type DemoFlavor = keyof typeof demoExamples;

export function exampleDirectory(name: string): string {
  const found = installedFolder('examples', name);
  if (found !== undefined) return found;
  throw new CapstanError('CAP_EXAMPLE_MISSING', `the example ${name} is missing in the installation of Capstan`, {
    hint: 'reinstall Capstan, or use a clone of its repository',
  });
}
