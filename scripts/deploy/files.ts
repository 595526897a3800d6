import { installation } from '../../src/cli/install/installation.ts';
import { version } from '../../src/cli/version.ts';
import { asJson, formatYaml, type KubeObject } from '../../src/machinery/index.ts';
import { chartFiles } from './chart.ts';

/** Default image, which `npm run image` builds with this name. */
const image = `capstan:${version}`;
const replicas = 2;

/** Builds the files below deploy/ from the code: the objects of `capstan install`, as manifests and as a chart. */
export function deployFiles(): Map<string, string> {
  const { kinds, others } = installation({ image, replicas });
  const definitions = kinds.map(oneLine).join('');
  return new Map([
    ['capstan.yaml', others.map((object) => `---\n${formatYaml(asJson(object))}`).join('')],
    ...[...chartFiles({ definitions, version, replicas })].map(([path, text]): [string, string] => [
      `chart/${path}`,
      text,
    ]),
  ]);
}

/**
 * Writes one definition per line, because they are for programs (docs/reference is for people), and diffs then show
 * which kind changed.
 */
function oneLine(object: KubeObject): string {
  return `---\n${JSON.stringify(object)}\n`;
}
