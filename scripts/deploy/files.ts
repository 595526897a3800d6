import { installation } from '../../src/cli/install/installation.ts';
import { version } from '../../src/cli/version.ts';
import { asJson, formatYaml, type KubeObject } from '../../src/machinery/index.ts';
import { chartFiles } from './chart.ts';

/** The image until somebody says another: `npm run image` makes it under this name. */
const image = `capstan:${version}`;
const replicas = 2;

/** The files below deploy/ that are made from the code: what `capstan install` applies, as manifests and as a chart. */
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

/** Definitions are for programs (people have docs/reference): one kind a line, which also shows in a diff what changed. */
function oneLine(object: KubeObject): string {
  return `---\n${JSON.stringify(object)}\n`;
}
