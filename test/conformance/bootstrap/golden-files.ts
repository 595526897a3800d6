import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse, parseAllDocuments } from 'yaml';

/** Golden files of the unit tests, so that the real user data is validated. */
const directory = fileURLToPath(new URL('../../../src/controllers/bootstrap/kubeadm/testdata/', import.meta.url));

export interface GoldenFile {
  name: string;
  text: string;
}

export function goldenFiles(extension: '.yaml' | '.ign'): GoldenFile[] {
  return readdirSync(directory)
    .filter((name) => name.endsWith(extension))
    .map((name) => ({ name, text: readFileSync(`${directory}${name}`, 'utf8') }));
}

/** kubeadm's part of a machine's user data. */
export interface KubeadmFile {
  /** name of the user data */
  name: string;
  /** for example `v1beta4` */
  format: string;
  documents: Record<string, unknown>[];
}

const kubeadmPaths = ['/run/kubeadm/kubeadm.yaml', '/run/kubeadm/kubeadm-join-config.yaml'];
const expression = /\{\{.*?\}\}/g;

/** Replaces expressions like cloud-init on a machine, with one name valid for all. */
const filledIn = (text: string): string => text.replaceAll(expression, 'node-1');

export function kubeadmFiles(): KubeadmFile[] {
  const written = goldenFiles('.yaml').map(({ name, text }) => {
    const { write_files: files } = parse(filledIn(text), { version: '1.1' }) as {
      write_files: { path: string; content: string }[];
    };
    return kubeadmFile(name, files.find(({ path }) => kubeadmPaths.includes(path))?.content ?? '');
  });
  const ignited = goldenFiles('.ign').map(({ name, text }) => {
    const { storage } = JSON.parse(text) as { storage: { files: { path: string; contents?: { source: string } }[] } };
    const source = storage.files.find(({ path }) => path === '/etc/kubeadm.yml')?.contents?.source ?? '';
    return kubeadmFile(name, filledIn(decodeURIComponent(source.replace(/^data:,/, ''))));
  });
  return [...written, ...ignited];
}

function kubeadmFile(name: string, text: string): KubeadmFile {
  const documents = parseAllDocuments(text, { version: '1.1' })
    .map((document) => document.toJS() as Record<string, unknown> | null)
    .filter((document) => document !== null);
  const format = String(documents[0]?.['apiVersion']).split('/')[1] ?? '';
  return { name, format, documents };
}
