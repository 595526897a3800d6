import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse, parseAllDocuments } from 'yaml';

/** User data as the unit tests keep it: what is judged is what machines get. */
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

/** kubeadm's part of one machine's user data. */
export interface KubeadmFile {
  /** the user data it is from */
  name: string;
  /** `v1beta4`, … */
  format: string;
  documents: Record<string, unknown>[];
}

const kubeadmPaths = ['/run/kubeadm/kubeadm.yaml', '/run/kubeadm/kubeadm-join-config.yaml'];
const expression = /\{\{.*?\}\}/g;

/** Expressions are filled in as cloud-init does on the machine, with a name that suits all of them. */
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
