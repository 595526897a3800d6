import type { SimulatedProgram } from '../process.ts';
import type { SimulatedKubernetes } from './kubernetes.ts';
import { findProgram, imageProgram } from './table.ts';

/**
 * What a container of this image does when it is started with this command line, or what a command in it does; undefined:
 * nobody here knows, it just stays up. `argv` may be empty: the image's own program.
 */
export function simulatedProgram(
  image: string,
  argv: readonly string[],
  kubernetes: SimulatedKubernetes,
): SimulatedProgram | undefined {
  const name = argv[0] === undefined ? imageProgram(image) : argv[0].slice(argv[0].lastIndexOf('/') + 1);
  const isFlag = name?.startsWith('-') ?? false;
  const maker = findProgram((isFlag ? imageProgram(image) : name) ?? '');
  return maker?.(kubernetes);
}
