import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CapstanError } from '../../machinery/index.ts';

/** Examples of hosted clusters, by the name of what runs their control plane. */
export const demoExamples = {
  k0smotron: { directory: 'hosted-k0smotron', cluster: 'hosted-k0smotron' },
  kamaji: { directory: 'hosted-kamaji', cluster: 'hosted-kamaji' },
  hosted: { directory: 'hosted-control-plane', cluster: 'hosted' },
} as const;

export type DemoFlavor = keyof typeof demoExamples;

/** The directory of an example, wherever the program itself lies: in its sources or in one bundle. */
export function exampleDirectory(name: string): string {
  for (let directory = dirname(fileURLToPath(import.meta.url)); ; directory = dirname(directory)) {
    const found = join(directory, 'examples', name);
    if (existsSync(found)) return found;
    if (dirname(directory) === directory) {
      throw new CapstanError('CAP_EXAMPLE_MISSING', `the example ${name} is not where capstan is installed`, {
        hint: 'install capstan again, or use a clone of its repository',
      });
    }
  }
}
