import { must } from '../../machinery/index.ts';
import { imageProgramName } from '../containers/images.ts';
import type { SimulatedProgram } from '../process.ts';
import { tools } from '../shell/tools/index.ts';
import type { SimulatedKubernetes } from './kubernetes.ts';
import { findProgram, imageProgram } from './table.ts';

/**
 * Finds the program for an image and command line, or for a command in a container; undefined if unknown, then the
 * container only keeps running. An empty `argv`, or one that starts with a flag, means the image's own program.
 */
export function simulatedProgram(
  image: string,
  argv: readonly string[],
  kubernetes: SimulatedKubernetes,
): SimulatedProgram | undefined {
  const given = kubernetes.programs(image, argv);
  if (given) return given;
  const [first] = argv;
  // An image without a command is started under its own name.
  const isItself = argv.length === 1 && first === imageProgramName(image) && imageProgram(image) !== undefined;
  const isNamed = first !== undefined && !first.startsWith('-') && !isItself;
  const name = isNamed ? first.slice(first.lastIndexOf('/') + 1) : imageProgram(image);
  if (name === undefined) return undefined;
  const found = findProgram(name)?.(kubernetes);
  if (found || !isNamed || !tools.has(name)) return found;
  // Commands that every image has are shell commands here. They exit as they would without a shell.
  const shell = must(findProgram('sh'), 'sh')(kubernetes);
  return (process) => shell({ ...process, argv: ['sh', '-c', '"$@"', 'sh', ...process.argv] });
}
