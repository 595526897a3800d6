import { must } from '../../machinery/index.ts';
import { imageProgramName } from '../containers/images.ts';
import type { SimulatedProgram } from '../process.ts';
import { tools } from '../shell/tools/index.ts';
import type { SimulatedKubernetes } from './kubernetes.ts';
import { findProgram, imageProgram } from './table.ts';

/**
 * What a container of this image does when it is started with this command line, or what a command in it does; undefined:
 * nobody here knows, it just stays up. `argv` may be empty, or begin with a flag: the image's own program.
 */
export function simulatedProgram(
  image: string,
  argv: readonly string[],
  kubernetes: SimulatedKubernetes,
): SimulatedProgram | undefined {
  const given = kubernetes.programs(image, argv);
  if (given) return given;
  const [first] = argv;
  // An image that is started without a command is called by its own name.
  const isItself = argv.length === 1 && first === imageProgramName(image) && imageProgram(image) !== undefined;
  const isNamed = first !== undefined && !first.startsWith('-') && !isItself;
  const name = isNamed ? first.slice(first.lastIndexOf('/') + 1) : imageProgram(image);
  if (name === undefined) return undefined;
  const found = findProgram(name)?.(kubernetes);
  if (found || !isNamed || !tools.has(name)) return found;
  // What every image has is a command of the shell here; it ends as it would without one around it.
  const shell = must(findProgram('sh'), 'sh')(kubernetes);
  return (process) => shell({ ...process, argv: ['sh', '-c', '"$@"', 'sh', ...process.argv] });
}
