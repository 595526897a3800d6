import { gzipSync } from 'node:zlib';
import { familyName, formatStackVersion, parseStackId } from '../../../api/index.ts';
import { packChart, tar } from '../../../artifacts/testing/index.ts';
import { must } from '../../../machinery/index.ts';

export interface TestRelease {
  /** id in dotted form */
  readonly id: string;
  readonly kubernetes: string;
  /** templates of the class chart by name; default a ConfigMap in place of the ClusterClass */
  readonly classTemplates?: Readonly<Record<string, string>>;
  /** stage files such as `cni/templates/x.yaml`; missing charts are generated */
  readonly stages?: Readonly<Record<string, string>>;
  /** clusteraddon.yaml; default all stages in order for both hooks */
  readonly addonConfig?: string;
  readonly addonVersion?: string;
}

/** Builds a release in its published form: archives and documents by name. */
export function releaseFiles(release: TestRelease): Map<string, Uint8Array> {
  const id = must(parseStackId(release.id), 'an id of a release');
  const family = familyName(id);
  const version = formatStackVersion(id.version);
  const addonVersion = release.addonVersion ?? version;
  const stages = { ...release.stages };
  const names = [...new Set(Object.keys(stages).map((path) => path.slice(0, path.indexOf('/'))))];
  for (const name of names) stages[`${name}/Chart.yaml`] ??= `apiVersion: v2\nname: ${name}\nversion: 1.0.0\n`;
  const list = names.map((name) => `    - {name: ${name}, action: apply}\n`).join('');
  const config =
    release.addonConfig ??
    `apiVersion: clusteraddonconfig.x-k8s.io/v1alpha1\naddonStages:\n  AfterControlPlaneInitialized:\n${list}  BeforeClusterUpgrade:\n${list}`;
  const chart = `${family}-cluster-class`;
  const classTemplates = release.classTemplates ?? {
    'class.yaml':
      'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}-{{ .Chart.Version }}\ndata: {a: b}\n',
  };
  const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
  return new Map([
    [
      'metadata.yaml',
      bytes(
        `apiVersion: metadata.clusterstack.x-k8s.io/v1alpha1\nversions:\n  clusterStack: ${version}\n  kubernetes: ${release.kubernetes}\n  components: {clusterAddon: ${addonVersion}, nodeImage: ${version}}\n`,
      ),
    ],
    ['clusteraddon.yaml', bytes(config)],
    [
      `${chart}-${version}.tgz`,
      packChart(chart, {
        'Chart.yaml': `apiVersion: v2\nname: ${chart}\nversion: ${version}\n`,
        ...Object.fromEntries(Object.entries(classTemplates).map(([name, text]) => [`templates/${name}`, text])),
      }),
    ],
    [
      `${family}-cluster-addon-${addonVersion}.tgz`,
      gzipSync(tar(Object.entries(stages).map(([path, content]) => ({ path, content })))),
    ],
  ]);
}
